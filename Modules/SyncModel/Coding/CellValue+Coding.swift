#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// A writer of values; each decides how it encodes the targets of links.
protocol CellWriter {
  var body: ByteWriter { get set }
  mutating func put(_ target: LinkTarget)
}

/// A reader of values.
protocol CellReader {
  var body: ByteReader { get set }
  mutating func target() throws(CodingError) -> LinkTarget
}

/// The tags are those of `MixedCoding`, but numbers are shorter, the writer encodes the targets of links, and strings, which seldom
/// repeat, are written inline.
extension CellWriter {
  mutating func put(_ value: CellValue) {
    func tag(_ tag: MixedCoding.Tag) { body.put(byte: tag.rawValue) }
    switch value {
    case .plain(let plain): put(plain.value)
    case .link(let target):
      tag(.link)
      put(target)
    case .list(let elements):
      tag(.list)
      body.put(elements.count)
      for element in elements { put(element) }
    case .map(let table):
      tag(.map)
      body.put(table.count)
      for entry in table {
        body.put(entry.key.text.utf8)
        put(entry.value)
      }
    }
  }

  private mutating func put(_ value: Value) {
    func tag(_ tag: MixedCoding.Tag) { body.put(byte: tag.rawValue) }
    switch value {
    case .bool(let x): tag(x ? .isTrue : .isFalse)
    case .int(let x):
      tag(.int)
      body.put(signed: x)
    case .float(let x):
      tag(.float)
      body.put(fixed: x.bitPattern)
    case .double(let x):
      tag(.double)
      body.put(fixed: x.bitPattern)
    case .string(let x):
      tag(.string)
      body.put(x.utf8)
    case .data(let x):
      tag(.data)
      body.put(x)
    case .date(let x):
      tag(.date)
      body.put(fixed: x.word)
    case .uuid(let x):
      tag(.uuid)
      withUnsafeBytes(of: x.uuid) { body.put(raw: $0) }
    case .objectId(let x):
      tag(.objectId)
      body.put(raw: x.bytes)
    case .decimal(let x):
      tag(.decimal)
      body.put(fixed: x.low)
      body.put(fixed: x.high)
    case .null, .link, .object, .list, .map: tag(.null)  // only `.null` occurs: a `PlainValue` is none of the others
    }
  }
}

extension CellReader {
  mutating func value(depth: Int = 0) throws(CodingError) -> CellValue {
    let start = body.position
    guard depth <= MixedCoding.depthMax else { throw CodingError(.depth, at: start) }
    let code = try body.byte()
    guard let tag = MixedCoding.Tag(rawValue: code) else { throw CodingError(.code(code), at: start) }
    switch tag {
    case .link: return .link(try target())
    case .list:
      var elements: [CellValue] = []
      for _ in 0..<(try body.count(of: 1)) { elements.append(try value(depth: depth + 1)) }
      return .list(elements)
    case .map:
      var table = SortedTable<Name, CellValue>()
      for _ in 0..<(try body.count(of: 2)) {
        let key = Name(try body.text())
        if let last = table.last, !(last.key < key) { throw CodingError(.order, at: start) }
        table[key] = try value(depth: depth + 1)
      }
      return .map(table)
    default:
      let value = try plain(tag)
      guard let plain = PlainValue(value), plain.value == value else { throw CodingError(.value, at: start) }
      return .plain(plain)
    }
  }

  private mutating func plain(_ tag: MixedCoding.Tag) throws(CodingError) -> Value {
    switch tag {
    case .null, .link, .list, .map: return .null
    case .isFalse: return .bool(false)
    case .isTrue: return .bool(true)
    case .int: return .int(try body.signed())
    case .float: return .float(Float(bitPattern: try body.fixed(UInt32.self)))
    case .double: return .double(Double(bitPattern: try body.fixed(UInt64.self)))
    case .string: return .string(try body.text())
    case .data: return .data(Data(try body.content()))
    case .date: return .date(Timestamp(word: try body.fixed(Int64.self)))
    case .uuid: return try plain(16, .uuid)
    case .objectId: return try plain(12, .objectId)
    case .decimal:
      let start = body.position
      let low = try body.fixed(UInt64.self)
      let high = try body.fixed(UInt64.self)
      let decimal = Decimal128(high: high, low: low)
      guard decimal.high == high, decimal.low == low else { throw CodingError(.value, at: start) }
      return .decimal(decimal)
    }
  }
  /// Reads a value of a type that `Value` decodes from bytes.
  mutating func plain(_ count: Int, _ type: ValueType) throws(CodingError) -> Value {
    let start = body.position
    let content = try body.raw(count)
    guard let value = content.withUnsafeBytes({ Value(bytes: $0, type: type) }) else { throw CodingError(.value, at: start) }
    return value
  }
}
