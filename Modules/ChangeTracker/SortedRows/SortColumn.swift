import StorageInterface
import StoreValues

/// One sort key as storage addresses it: a scalar column of the rows, or of an object reached by to-one links. A null link on
/// the way leaves no value; such rows sort last when ascending.
package struct SortColumn: Sendable, Hashable {
  package let links: [ColumnID]
  package let column: ColumnID
  package let type: ValueType
  /// Whether the value can be null: an optional column, or one behind a link.
  package let isOptional: Bool
  package let isAscending: Bool

  package init(links: [ColumnID] = [], column: ColumnID, type: ValueType, isOptional: Bool, isAscending: Bool) {
    self.links = links
    self.column = column
    self.type = type
    self.isOptional = isOptional || !links.isEmpty
    self.isAscending = isAscending
  }

  /// How many numbers of 64 bits hold every value and null; nil where none do. One for doubles, dates, floats, short
  /// integers, and an Int64 that cannot be null; two for an Int64 that can.
  var numberCount: Int? {
    switch type {
    case .string, .data, .uuid, .objectId, .decimal, .mixed: nil
    case .int64, .link: isOptional ? 2 : 1
    default: 1
    }
  }

  /// For each object `numberCount` numbers that order as the values do, one after another. Objects are read together
  /// where the engine can do that.
  func numbers(_ keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [UInt64] {
    let hasMarker = numberCount == 2
    let flip: UInt64 = isAscending ? 0 : .max
    var result: [UInt64] = []
    result.reserveCapacity(hasMarker ? keys.count * 2 : keys.count)
    func append(_ word: Int64?, isMissing: Bool = false) {
      if hasMarker {
        result.append((isMissing ? 2 : word == nil ? 0 : 1) ^ flip)
        result.append((word.map(bits) ?? 0) ^ flip)
      } else {
        result.append((isMissing ? .max : word.map(bits) ?? 0) ^ flip)
      }
    }
    if links.isEmpty {
      for word in try reading.words(column, of: keys) { append(word) }
      return result
    }
    for key in keys {
      let end = try end(ObjectKey(key), in: reading)
      guard let end else {
        append(nil, isMissing: true)
        continue
      }
      append(try reading.word(column, end))
    }
    return result
  }

  private func bits(_ word: Int64) -> UInt64 {
    switch type {
    case .double: SortKeyBytes.ordinal(Double(bitPattern: UInt64(bitPattern: word)))
    case .float: SortKeyBytes.ordinal(Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))))
    // A required Int64 needs all 64 bits; a shorter integer leaves 0 for null, as dates do, whose NaN is 1.
    default: UInt64(bitPattern: word) ^ 1 << 63
    }
  }

  /// Appends the value's normalised bytes.
  func append(_ key: ObjectKey, in reading: any StorageReading, to bytes: inout [UInt8]) throws(StorageError) {
    guard let end = try end(key, in: reading) else {
      return SortKeyBytes.appendMissing(ascending: isAscending, to: &bytes)
    }
    guard type.isWord else { return try appendBytes(end, in: reading, to: &bytes) }
    let word = try reading.word(column, end)
    SortKeyBytes.append(null: word == nil, hasMarker: isOptional, ascending: isAscending, to: &bytes)
    if let word { SortKeyBytes.append(bits(word), ascending: isAscending, to: &bytes) }
  }

  private func appendBytes(
    _ end: ObjectKey, in reading: any StorageReading, to bytes: inout [UInt8]
  ) throws(StorageError) {
    var result = bytes
    try reading.bytes(column, end) { value in
      SortKeyBytes.append(null: value == nil, hasMarker: isOptional, ascending: isAscending, to: &result)
      if !type.ordersByBytes {
        let boxed = value.flatMap { Value(bytes: $0, type: type) }
        if let boxed { SortKeyBytes.append(ordered: boxed, ascending: isAscending, to: &result) }
        return
      }
      SortKeyBytes.append(bytes: value, isFixed: type.fixedByteCount != nil, ascending: isAscending, to: &result)
    }
    bytes = result
  }

  private func end(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> ObjectKey? {
    var end = key
    for link in links {
      guard let target = try reading.word(link, end) else { return nil }
      end = ObjectKey(target)
    }
    return end
  }
}
