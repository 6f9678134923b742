import StorageInterface
import StoreValues

/// A map entry as one byte string: key length u32, the key, and the value: nothing for null, else 1 and the value's word (8
/// bytes) or bytes.
enum MapEntry {
  static func encode(_ key: [UInt8], _ value: Value, _ type: ValueType) -> [UInt8] {
    var out: [UInt8] = []
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: key.count).littleEndian) { out.append(contentsOf: $0) }
    out += key
    if value.isNull { return out }
    out.append(1)
    if type.isWord {
      withUnsafeBytes(of: (value.word ?? 0).littleEndian) { out.append(contentsOf: $0) }
    } else {
      value.withBytes(as: type) { if let bytes = $0 { out.append(contentsOf: bytes) } }
    }
    return out
  }

  /// The key; empty for damaged bytes.
  static func key(_ entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard entry.count >= 4, let start = entry.baseAddress else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    let length = Int(start.number(0, as: UInt32.self))
    guard length <= entry.count - 4 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: entry[4..<4 + length])
  }

  /// The bytes of the value, 8 for a word; nil is null.
  static func content(_ entry: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let end = 4 + key(entry).count
    guard entry.count > end else { return nil }
    return UnsafeRawBufferPointer(rebasing: entry[(end + 1)...])
  }

  /// The word of the value of a map of words; nil is null.
  static func word(_ entry: UnsafeRawBufferPointer) -> Int64? {
    guard let content = content(entry), content.count == 8, let start = content.baseAddress else { return nil }
    return start.number(0, as: Int64.self)
  }

  static func value(_ run: ElementRun, _ i: Int, _ type: ValueType) -> Value {
    run.withBytesResult(i) { entry in
      if type.isWord { return word(entry).flatMap { Value(word: $0, type: type) } ?? .null }
      return content(entry).flatMap { Value(bytes: $0, type: type) } ?? .null
    }
  }
}

extension MapEntry {
  /// Splits entries into columns of values and keys, the form in which they are lent.
  static func split(_ entries: ElementRun, _ type: ValueType) -> (values: ElementRun, keys: ElementRun) {
    var values = ElementRun(form: ColumnShape.Form(type))
    var keys = ElementRun(form: .bytes)
    for i in 0..<entries.count {
      entries.withBytes(i) { entry in
        keys.append(bytes: key(entry))
        if type.isWord { values.append(word: word(entry)) } else { values.append(bytes: content(entry)) }
      }
    }
    return (values, keys)
  }
}

extension ElementRun {
  func withBytesResult<R>(_ i: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R { bytes(i).withUnsafeBytes(body) }

  /// An element as a `Value`.
  func value(_ i: Int, _ type: ValueType) -> Value {
    if isNull(i) { return .null }
    if form.isWord { return Value(word: word(i), type: type) ?? .null }
    return withBytesResult(i) { Value(bytes: $0, type: type) } ?? .null
  }

  /// Calls `body` with the target of each link in the elements, as a word of its backlink.
  func forEachTarget(_ shape: ColumnShape, _ body: (Int64) -> Void) {
    for i in 0..<count where !isNull(i) {
      if shape.type == .link {
        if shape.collection != .map { body(word(i)) } else if let word = withBytesResult(i, MapEntry.word) { body(word) }
      } else if shape.type == .mixed {
        let value = shape.collection == .map ? MapEntry.value(self, i, .mixed) : value(i, .mixed)
        for link in value.links { body(link.word) }
      }
    }
  }
}
