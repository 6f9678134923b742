import Foundation
import StoreValues
import VivariumTestSupport

/// Values at the edges of their types.
enum Extremes {
  static func of(_ type: ValueType) -> [Value] {
    switch type {
    case .bool: [.bool(false), .bool(true)]
    case .int8: integers(Int8.self)
    case .int16: integers(Int16.self)
    case .int32: integers(Int32.self)
    case .int64: integers(Int64.self)
    case .float:
      [0, -0.0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .nan, .signalingNaN,
        Float(bitPattern: 0xFFC1_2345)].map { .float($0) }
    case .double: doubles.map { .double($0) }
    case .date: TimestampSamples.edges.map { .date($0) }
    case .string: strings.map { .string($0) }
    case .data: datas.map { .data($0) }
    case .uuid: uuids
    case .objectId: objectIds
    case .decimal: decimals
    case .mixed: mixed
    case .link: [.link(ObjectKey(1)), .link(ObjectKey(2))]
    }
  }

  private static func integers<T: FixedWidthInteger>(_: T.Type) -> [Value] {
    [0, 1, -1, T.min, T.max, T.min + 1, T.max - 1].map { .int(Int64($0)) }
  }

  static let doubles: [Double] = [
    0, -0.0, 1, -1, 0.1, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
    .greatestFiniteMagnitude, .nan, .signalingNaN, Double(bitPattern: 0xFFF8_0000_0000_1234),
    Double(bitPattern: 0x7FF8_DEAD_BEEF_0001), 0x1p53 + 2, .pi,
  ]

  static let strings: [String] = [
    "", " ", "a", "\0", "a\0b", "\0\0", "é", "e\u{301}", "\u{212B}", "👩‍👩‍👧‍👦", "🇩🇪", "\u{FEFF}x", "\u{10FFFF}",
    "line\nbreak\r\n", "'quoted' \"twice\" ; --", "%_*?[", "NULL", "12", "1.0", "١٢", String(repeating: "ß", count: 3000),
  ]

  static let datas: [Data] = [
    Data(), Data([0]), Data([0, 0, 0]), Data([0xFF]), Data(0...255), Data("text".utf8),
    Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
  ]

  static let uuids: [Value] = [
    .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
    .uuid(UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))),
    .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    .uuid(UUID(uuid: (0x80, 0, 0x7F, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))),
  ]

  static let objectIds: [Value] = ["000000000000000000000000", "ffffffffffffffffffffffff", "0102030405060708090a0b0c", "80007fff0000000000000001"]
    .compactMap { (text: String) -> Value? in ObjectId(text).map { Value.objectId($0) } }

  /// Every digit counts: 1.5 and 1.50 are two, and so are the zeroes.
  static let decimals: [Value] = {
    let texts = ["-0E-6176", "0E+6111", "1.0E-6175", "-9.999999999999999999999999999999999E+6144", "1E+6144", "0.000001", "1E-7"]
    var all: [Decimal128] = RandomMixed.decimals
    for text in texts { if let decimal = Decimal128(text) { all.append(decimal) } }
    return all.map { Value.decimal($0) }
  }()

  /// Every type of a mixed value at its edges, and lists and maps of them.
  static let mixed: [Value] = {
    var scalars: [Value] = []
    for type in ValueType.allCases where type != .link && type != .mixed { scalars.append(contentsOf: of(type)) }
    let links: [Value] = [.object(ObjectLink(TableID(1), ObjectKey(1))), .object(ObjectLink(TableID(9), ObjectKey(ObjectLink.keyMax)))]
    let map = ValueMap([
      ValueMap.Entry("", .null), ValueMap.Entry("é", .int(1)), ValueMap.Entry("e\u{301}", .list([.null, .list([])])),
      ValueMap.Entry("\0", .map(ValueMap())),
    ])
    var deep = Value.list([])
    for _ in 1..<MixedCoding.depthMax { deep = Value.list([deep]) }
    var nested = scalars
    nested.append(contentsOf: links)
    nested.append(.null)
    var all = scalars
    all.append(contentsOf: links)
    all.append(contentsOf: [Value.string(""), Value.data(Data()), Value.list([]), Value.map(ValueMap())])
    all.append(contentsOf: [Value.list(nested), Value.map(map), deep])
    return all
  }()

  /// A megabyte that does not repeat in short runs.
  static let megabyte = Data((0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) })
}
