#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// One index structure of a table: the columns of its keys and their encoding. A class for the same reason as `ColumnShape`.
final class IndexShape: Sendable {
  let reference: IndexReference
  /// The slots of the columns in the table, in key order.
  let slots: [Int]
  /// The first of `slots`, and the form of its column: all that an index of words needs.
  let firstSlot: Int
  let firstForm: ColumnShape.Form
  let isUnique: Bool
  /// Keys are single 64-bit words: one column of words that is never null. Otherwise keys are byte strings.
  let isWord: Bool

  /// The backlinks of a collection or a mixed scalar, whose values have any number of entries.
  let linksInside: Bool

  /// An index of the words of a text, any number for each object. Its keys are words, terminated as strings are.
  let isOfText: Bool

  /// An index of integers that are never null; the integer is the key.
  let isWholeNumber: Bool
  /// The same, and unique.
  let isDirect: Bool

  /// Each object has one entry at most, which takes a look at its row. Only such an index does without the entries of fresh rows: the
  /// words of a text and the members of a list may be many.
  let isOfRows: Bool

  init(_ index: IndexEntry, _ shapes: [ColumnShape], slots: [Int]) {
    reference = .index(index.id)
    self.slots = slots
    firstSlot = slots[0]
    firstForm = shapes[slots[0]].form
    isUnique = index.isUnique
    isWord = slots.count == 1 && shapes[slots[0]].form.isWord && !shapes[slots[0]].isOptional
    linksInside = false
    isOfText = false
    isWholeNumber = isWord && shapes[slots[0]].form == .integer && shapes[slots[0]].type != .link && shapes[slots[0]].type != .date
    isDirect = isWholeNumber && isUnique
    isOfRows = true
  }

  init(backlinksOf column: ColumnID, slot: Int, _ shape: ColumnShape) {
    linksInside = shape.linksInside
    reference = .backlinks(column)
    slots = [slot]
    firstSlot = slot
    firstForm = .integer
    isUnique = false
    isWord = true
    isOfText = false
    isWholeNumber = false
    isDirect = false
    isOfRows = !shape.linksInside
  }

  init(_ index: TextIndexEntry, slot: Int) {
    linksInside = false
    reference = .index(index.id)
    slots = [slot]
    firstSlot = slot
    firstForm = .bytes
    isUnique = false
    isWord = false
    isOfText = true
    isWholeNumber = false
    isDirect = false
    isOfRows = false
  }
}

/// The encoding of values as bytes (or one number) that sort as `Value.order` does (Docs/FileFormat.md, "Index keys").
enum IndexKeyCoding {
  /// The number for a column's word: its unsigned order is the order of values. NaN is the lowest.
  @inline(__always) static func ordinal(_ word: Int64, _ form: ColumnShape.Form) -> UInt64 {
    let signed: Int64
    switch form {
    case .double: signed = ordinal(of: Double(bitPattern: UInt64(bitPattern: word)))
    case .float: signed = ordinal(of: Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))))
    default: signed = word
    }
    return UInt64(bitPattern: signed) ^ (1 << 63)
  }

  @inline(__always) static func ordinal(of number: Double) -> Int64 {
    number.isNaN ? .min : ZoneHint.ordinal(of: number)
  }

  static func append(ordinal: UInt64, to key: inout [UInt8]) {
    withUnsafeBytes(of: ordinal.bigEndian) { key.append(contentsOf: $0) }
  }

  static func appendNull(to key: inout [UInt8]) { key.append(0) }

  static func append(word: Int64, _ shape: ColumnShape, to key: inout [UInt8]) {
    if shape.isOptional { key.append(1) }
    append(ordinal: ordinal(word, shape.form), to: &key)
  }

  static func append(bytes: UnsafeRawBufferPointer, _ shape: ColumnShape, to key: inout [UInt8]) {
    if shape.isOptional { key.append(1) }
    if shape.form == .fixed16, shape.type == .uuid {
      key.append(contentsOf: bytes)
      return
    }
    if !shape.type.ordersByBytes {
      // Decimals and mixed values: their order key, terminated as a string is.
      return append(terminated: Value(bytes: bytes, type: shape.type)?.orderKey ?? [], to: &key)
    }
    append(terminated: bytes, to: &key)
  }

  static func append(terminated bytes: some Sequence<UInt8>, to key: inout [UInt8]) {
    // A zero byte is escaped by 255 and two zeroes mark the end, so no key is a prefix of another.
    for byte in bytes {
      key.append(byte)
      if byte == 0 { key.append(0xFF) }
    }
    key.append(0)
    key.append(0)
  }

  /// Appends an object key as the second part of an entry's order.
  static func append(object: Int64, to key: inout [UInt8]) { append(ordinal: UInt64(bitPattern: object), to: &key) }
}

/// A position between entries of an index: before or after all keys with a prefix.
struct IndexCut {
  var bytes: [UInt8]
  var isAfter: Bool

  static let start = IndexCut(bytes: [], isAfter: false)
  static let end = IndexCut(bytes: [], isAfter: true)

  /// Whether the position is after a key.
  @inline(__always) func isAbove(_ key: UnsafeRawBufferPointer) -> Bool {
    bytes.withUnsafeBytes { cut in
      let common = min(key.count, cut.count)
      let order = compareBytes(
        UnsafeRawBufferPointer(rebasing: key[0..<common]), UnsafeRawBufferPointer(rebasing: cut[0..<common]))
      if order != 0 { return order < 0 }
      return key.count < cut.count || isAfter
    }
  }

  /// In an index of words: an entry is before the position exactly if (its key, its object) is below this.
  var wordBound: (word: UInt64, object: Int64) {
    if bytes.isEmpty { return isAfter ? (.max, .max) : (0, .min) }
    var word: UInt64 = 0
    for i in 0..<8 { word = word << 8 | (i < bytes.count ? UInt64(bytes[i]) : 0) }
    return (word, isAfter ? .max : .min)
  }
}

extension IndexCut {
  /// The positions where a range of an index begins and ends; nil if no value can be in it.
  static func bounds(
    _ range: IndexRange, _ index: IndexShape, _ shapes: [ColumnShape]
  ) throws(StorageError) -> (lower: IndexCut, upper: IndexCut)? {
    let isBounded = range.lower != .unbounded || range.upper != .unbounded
    guard range.equal.count + (isBounded ? 1 : 0) <= index.slots.count else {
      throw .misuse("An index over \(index.slots.count) columns was asked for more values than that.")
    }
    var prefix: [UInt8] = []
    for (i, value) in range.equal.enumerated() {
      let shape = shapes[index.slots[i]]
      let before = cut(value, shape, after: false)
      let after = cut(value, shape, after: true)
      guard before.bytes == after.bytes, !before.isAfter, after.isAfter else { return nil }
      prefix += before.bytes
    }
    var lower = IndexCut(bytes: prefix, isAfter: false)
    var upper = IndexCut(bytes: prefix, isAfter: true)
    guard isBounded else { return (lower, upper) }
    let shape = shapes[index.slots[range.equal.count]]
    func extend(_ value: Value, after: Bool) -> IndexCut {
      let place = cut(value, shape, after: after)
      return IndexCut(bytes: prefix + place.bytes, isAfter: place.isAfter)
    }
    switch range.lower {
    case .unbounded: break
    case .including(let value): lower = extend(value, after: false)
    case .excluding(let value): lower = extend(value, after: true)
    }
    switch range.upper {
    case .unbounded: break
    case .including(let value): upper = extend(value, after: true)
    case .excluding(let value): upper = extend(value, after: false)
    }
    return (lower, upper)
  }

  /// The position before all of the column's values that are not below `value`, or with `after` behind all that are not above
  /// it.
  private static func cut(_ value: Value, _ shape: ColumnShape, after: Bool) -> IndexCut {
    let aboveNulls = shape.isOptional ? IndexCut(bytes: [0], isAfter: true) : .start
    if value.isNull { return after ? aboveNulls : shape.isOptional ? IndexCut(bytes: [0], isAfter: false) : .start }
    let (own, other) = (rank(shape.type), rank(value))
    if other != own, shape.type != .mixed { return other < own ? aboveNulls : .end }
    func exact(_ ordinal: UInt64, _ isAfter: Bool) -> IndexCut {
      var bytes: [UInt8] = shape.isOptional ? [1] : []
      IndexKeyCoding.append(ordinal: ordinal, to: &bytes)
      return IndexCut(bytes: bytes, isAfter: isAfter)
    }
    if !shape.type.ordersByBytes {
      var bytes: [UInt8] = shape.isOptional ? [1] : []
      IndexKeyCoding.append(terminated: value.orderKey, to: &bytes)
      return IndexCut(bytes: bytes, isAfter: after)
    }
    func word(_ word: Int64, _ isAfter: Bool) -> IndexCut { exact(UInt64(bitPattern: word) ^ (1 << 63), isAfter) }
    switch value {
    case .int(let number) where shape.form == .integer: return word(number, after)
    case .int(let number):
      let nearest = Double(number)
      let place = IndexKeyCoding.ordinal(of: nearest)
      switch Value.Order.compare(number, nearest) {
      case .same: return word(place, after)
      case .before: return word(place, false)
      case .after: return word(place, true)
      }
    case .decimal(let number): return cut(number, shape, after, aboveNulls, word)
    case .float(let number): return cut(Double(number), shape, after, aboveNulls, word)
    case .double(let number): return cut(number, shape, after, aboveNulls, word)
    case .date(let date): return word(date.word, after)
    case .bool(let flag): return word(flag ? 1 : 0, after)
    case .link(let key): return word(key.rawValue, after)
    // Above every link of a property with a declared type.
    case .object, .list, .map: return .end
    default:
      var bytes: [UInt8] = []
      value.withBytes { content in if let content { IndexKeyCoding.append(bytes: content, shape, to: &bytes) } }
      return IndexCut(bytes: bytes, isAfter: after)
    }
  }

  private static func cut(
    _ number: Double, _ shape: ColumnShape, _ after: Bool, _ aboveNulls: IndexCut,
    _ word: (Int64, Bool) -> IndexCut
  ) -> IndexCut {
    if shape.form != .integer { return word(IndexKeyCoding.ordinal(of: number), after) }
    if number.isNaN || number < -0x1p63 { return aboveNulls }
    if number >= 0x1p63 { return .end }
    let whole = number.rounded(.down)
    // In range by the two tests above.
    return word(Int64(whole), whole == number ? after : true)
  }

  /// The position for a decimal among integers or doubles: at the greatest of those not above it.
  private static func cut(
    _ number: Decimal128, _ shape: ColumnShape, _ after: Bool, _ aboveNulls: IndexCut,
    _ word: (Int64, Bool) -> IndexCut
  ) -> IndexCut {
    if shape.form != .integer {
      let (double, isExact) = number.floorDouble
      return word(IndexKeyCoding.ordinal(of: double), isExact ? after : true)
    }
    if let (integer, isExact) = number.floor { return word(integer, isExact ? after : true) }
    return number.isNaN || number.isNegative ? aboveNulls : .end
  }

  private static func rank(_ type: ValueType) -> Int {
    switch type {
    case .bool: 1
    case .int8, .int16, .int32, .int64, .float, .double, .decimal: 2
    case .string: 3
    case .data: 4
    case .date: 5
    case .objectId: 6
    case .uuid: 7
    case .link, .mixed: 8
    }
  }

  private static func rank(_ value: Value) -> Int { value.type.map { rank($0) } ?? 0 }
}
