import StorageInterface
import StoreValues

/// One sort key of the rows gathered so far: a 64-bit number per row that sorts as the values do, and for strings, data and
/// UUIDs also the bytes, because the first eight may not decide.
///
/// Null is 0 and NaN 1, below every other number. A null link on the way leaves no value, which sorts after every number.
/// Descending lanes store the complement, so the smaller number always comes first.
final class SortLane {
  /// An optional Int64 takes two lanes, because its values use every number and leave none for null.
  enum Part { case value, presence }

  let type: ValueType
  let isAscending: Bool
  private let part: Part
  /// Whether another lane stores which rows have a value.
  private let hasPresence: Bool
  private(set) var numbers: ContiguousArray<UInt64> = []
  /// Whether rows with the same number may differ, so that their bytes decide.
  let isInexact: Bool

  private var text: ContiguousArray<UInt8> = []
  /// Where a row's bytes begin in `text`; they end where the next row's begin.
  private var starts: ContiguousArray<Int> = [0]
  /// 0 null, 1 a value, 2 no value because a link on the way is null.
  private var states: ContiguousArray<UInt8> = []

  init(_ field: SortField, _ part: Part, expected: Int) {
    type = field.path.type
    isAscending = field.isAscending
    self.part = part
    hasPresence = SortLane.parts(field).count > 1
    isInexact = !field.path.type.isWord
    numbers.reserveCapacity(expected)
  }

  static func parts(_ field: SortField) -> [Part] {
    field.path.isOptional && field.path.type == .int64 ? [.presence, .value] : [.value]
  }

  /// Whether this lane alone tells the value, or null, of every row.
  var isOfValues: Bool { part == .value && !hasPresence }

  private var flip: UInt64 { isAscending ? 0 : ~0 }
  /// The number of null: 0, or its complement.
  var nullNumber: UInt64 { flip }

  /// Adds the listed rows of a batch. `space` holds at least as many numbers.
  func append(_ vector: ColumnVector, _ rows: UnsafeBufferPointer<Int32>, _ space: UnsafeMutablePointer<UInt64>) {
    if type.isWord {
      fill(space, vector, rows)
      numbers.append(contentsOf: UnsafeBufferPointer(start: space, count: rows.count))
    } else {
      for row in rows { append(bytes: vector.isNull(at: Int(row)) ? nil : vector.bytes(at: Int(row))) }
    }
  }

  /// Computes the numbers of the listed rows without adding them.
  func fill(_ space: UnsafeMutablePointer<UInt64>, _ vector: ColumnVector, _ rows: UnsafeBufferPointer<Int32>) {
    let (flip, values, count) = (flip, vector.values, rows.count)
    if part == .presence {
      for i in 0..<count { space[i] = (vector.isNull(at: Int(rows[i])) ? 0 : 1) ^ flip }
      return
    }
    switch (type.physical, vector.layout) {
    case (.integer, .int8):
      let base = UInt64(bitPattern: vector.base) &+ 1 &<< 63
      for i in 0..<count { space[i] = (base &+ UInt64(values.load(fromByteOffset: Int(rows[i]), as: UInt8.self))) ^ flip }
    case (.integer, .int64):
      let base = vector.base
      for i in 0..<count {
        let word = base &+ values.loadUnaligned(fromByteOffset: Int(rows[i]) &* 8, as: Int64.self)
        space[i] = (UInt64(bitPattern: word) ^ 1 &<< 63) ^ flip
      }
    case (.integer, _):
      for i in 0..<count { space[i] = (UInt64(bitPattern: vector.word(at: Int(rows[i]))) ^ 1 &<< 63) ^ flip }
    case (.double, .float64):
      for i in 0..<count {
        space[i] = SortLane.number(values.loadUnaligned(fromByteOffset: Int(rows[i]) &* 8, as: Double.self)) ^ flip
      }
    case (.bytes, _) where !type.ordersByBytes, (.bytes16, _) where !type.ordersByBytes:
      for i in 0..<count {
        let key = vector.isNull(at: Int(rows[i])) ? [] : SortLane.sortKey(vector.bytes(at: Int(rows[i])), type)
        space[i] = key.withUnsafeBytes { SortLane.head($0) } ^ flip
      }
    case (.bytes, _), (.bytes16, _):
      for i in 0..<count { space[i] = SortLane.head(vector.bytes(at: Int(rows[i]))) ^ flip }
    default:
      for i in 0..<count { space[i] = SortLane.number(Kernels.real(vector.word(at: Int(rows[i])), type)) ^ flip }
    }
    guard let nulls = vector.nulls else { return }
    for i in 0..<count where nulls[Int(rows[i]) &>> 6] &>> UInt64(rows[i] & 63) & 1 == 1 { space[i] = flip }
  }

  /// Adds one row; nil is null.
  func append(word: Int64?) { numbers.append(word.map { number(of: $0) ^ flip } ?? flip) }

  /// Adds rows from words and nulls. Overwrites the words.
  func append(words: UnsafeMutablePointer<Int64>, nulls: UnsafePointer<Bool>, count: Int) {
    let flip = flip
    for i in 0..<count { words[i] = Int64(bitPattern: (nulls[i] ? 0 : number(of: words[i])) ^ flip) }
    words.withMemoryRebound(to: UInt64.self, capacity: count) {
      numbers.append(contentsOf: UnsafeBufferPointer(start: $0, count: count))
    }
  }

  /// The number that sorts as the word, ascending.
  @inline(__always) private func number(of word: Int64) -> UInt64 {
    if part == .presence { return 1 }
    return type.physical == .integer ? UInt64(bitPattern: word) ^ 1 &<< 63 : SortLane.number(Kernels.real(word, type))
  }

  /// Adds one row; nil is null.
  func append(bytes: UnsafeRawBufferPointer?) {
    guard let bytes else { return append(state: 0, nil) }
    if type.ordersByBytes { return append(state: 1, bytes) }
    SortLane.sortKey(bytes, type).withUnsafeBytes { append(state: 1, $0) }
  }

  /// Adds a row without a value, because of a null link.
  func appendMissing() {
    if type.isWord {
      numbers.append((part == .presence ? 2 : part == .value && hasPresence ? 0 : ~0) ^ flip)
    } else {
      append(state: 2, nil)
    }
  }

  private func append(state: UInt8, _ bytes: UnsafeRawBufferPointer?) {
    states.append(state)
    if let bytes { text.append(contentsOf: bytes) }
    let head = state == 2 ? ~0 : bytes.map(SortLane.head) ?? 0
    starts.append(text.count)
    numbers.append(head ^ flip)
  }

  /// The bytes that sort as the values do.
  private static func sortKey(_ bytes: UnsafeRawBufferPointer, _ type: ValueType) -> [UInt8] {
    Value(bytes: bytes, type: type)?.sortKey ?? []
  }

  /// Compares two rows: negative, 0 or positive. O(1), or the length of the strings.
  func compare(_ a: Int, _ b: Int) -> Int {
    let (x, y) = (numbers[a], numbers[b])
    if x != y { return x < y ? -1 : 1 }
    if !isInexact { return 0 }
    if states[a] != states[b] { return (states[a] < states[b]) == isAscending ? -1 : 1 }
    if states[a] != 1 { return 0 }
    let order = text.withUnsafeBytes { text in
      Bytes.compare(
        UnsafeRawBufferPointer(rebasing: text[starts[a]..<starts[a + 1]]),
        UnsafeRawBufferPointer(rebasing: text[starts[b]..<starts[b + 1]]))
    }
    return isAscending ? order : -order
  }

  func removeLast() {
    numbers.removeLast()
    if type.isWord { return }
    states.removeLast()
    starts.removeLast()
    text.removeLast(text.count - starts[starts.count - 1])
  }

  /// Keeps the listed rows, in the given order.
  func keep(_ rows: ArraySlice<Int32>) {
    numbers = ContiguousArray(rows.map { numbers[Int($0)] })
    if type.isWord { return }
    states = ContiguousArray(rows.map { states[Int($0)] })
    var (kept, ends): (ContiguousArray<UInt8>, ContiguousArray<Int>) = ([], [0])
    for row in rows {
      kept.append(contentsOf: text[starts[Int(row)]..<starts[Int(row) + 1]])
      ends.append(kept.count)
    }
    (text, starts) = (kept, ends)
  }

  /// Makes the numbers of strings more selective by leaving out their common prefix. The numbers still sort as the values do.
  func sharpen() {
    guard !type.isWord, numbers.count > 1 else { return }
    text.withUnsafeBytes { text in
      guard let first = states.firstIndex(of: 1) else { return }
      let model = UnsafeRawBufferPointer(rebasing: text[starts[first]..<starts[first + 1]])
      var shared = model.count
      for row in states.indices where states[row] == 1 && shared > 0 {
        let bytes = UnsafeRawBufferPointer(rebasing: text[starts[row]..<starts[row + 1]])
        shared = min(shared, bytes.count)
        var i = 0
        while i < shared, bytes[i] == model[i] { i &+= 1 }
        shared = i
      }
      if shared == 0 { return }
      for row in states.indices where states[row] == 1 {
        numbers[row] = SortLane.head(UnsafeRawBufferPointer(rebasing: text[starts[row] + shared..<starts[row + 1]])) ^ flip
      }
    }
  }

  /// The first eight bytes as a number that sorts as they do, zero-padded.
  @inline(__always) private static func head(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 8 { return bytes.loadUnaligned(as: UInt64.self).bigEndian }
    var head: UInt64 = 0
    for i in 0..<bytes.count { head |= UInt64(bytes[i]) &<< UInt64(56 &- 8 &* i) }
    return head
  }

  @inline(__always) private static func number(_ value: Double) -> UInt64 {
    if value.isNaN { return 1 }
    return UInt64(bitPattern: ZoneHint.ordinal(of: value)) ^ 1 &<< 63
  }
}
