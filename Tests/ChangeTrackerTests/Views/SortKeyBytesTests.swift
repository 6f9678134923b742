import ChangeTracker
import Foundation
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct SortKeyBytesTests {
  private static let columns: [[Value]] = [
    [.null, .int(.min), .int(-1), .int(0), .int(1), .int(255), .int(256), .int(.max)],
    [.null, .double(.nan), .double(-.infinity), .double(-2), .double(-0.0), .double(0),
      .double(.leastNonzeroMagnitude), .double(3), .double(.infinity)],
    [.null, .float(.nan), .float(-.infinity), .float(-1), .float(0), .float(2)],
    [.null, .string(""), .string("\0"), .string("\0\0"), .string("\0a"), .string("a"), .string("a\0"),
      .string("a\0b"), .string("aa"), .string("Ω"), .string("\u{10FFFF}")],
    [.null, .data(Data()), .data(Data([0])), .data(Data([0, 255])), .data(Data([1])), .data(Data([255, 255]))],
    [.null, .bool(false), .bool(true)],
    [.null, .date(Timestamp(secondsSinceReferenceDate: -1)), .date(Timestamp(secondsSinceReferenceDate: 1))],
    [.null, .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), .uuid(UUID())],
  ]

  private func key(_ values: [(Value, Bool)], hasMarker: Bool) -> [UInt8] {
    var key: [UInt8] = []
    for (value, ascending) in values {
      SortKeyBytes.append(value, hasMarker: hasMarker, ascending: ascending, to: &key)
    }
    return key
  }

  private func sign(_ order: Int) -> Int { order.signum() }

  @Test(arguments: [true, false]) func bytesOrderAsTheValuesDo(ascending: Bool) {
    for column in Self.columns {
      for a in column {
        for b in column {
          let order = a.order(to: b).rawValue * (ascending ? 1 : -1)
          let (x, y) = (key([(a, ascending)], hasMarker: true), key([(b, ascending)], hasMarker: true))
          #expect(sign(SortKeyBytes.order(x, y)) == order, "\(a) \(b)")
          let (p, q) = (SortKeyBytes.prefixes(of: x), SortKeyBytes.prefixes(of: y))
          if p != q { #expect((p < q ? -1 : 1) == order, "\(a) \(b)") }
          if a.isNull || b.isNull { continue }
          let required = SortKeyBytes.order(
            key([(a, ascending)], hasMarker: false), key([(b, ascending)], hasMarker: false))
          #expect(sign(required) == order, "\(a) \(b)")
        }
      }
    }
  }

  /// The second key decides only where the first is equal, also where one is the beginning of the other.
  @Test func severalKeysOrderOneAfterTheOther() {
    var random = SeededGenerator.forTest()
    for _ in 0..<3_000 {
      let columns = (0..<2).map { _ in Self.columns[random.below(Self.columns.count)] }
      let directions = (0..<2).map { _ in random.oneIn(2) }
      let a = columns.map { $0[random.below($0.count)] }
      let b = columns.map { $0[random.below($0.count)] }
      let orders = (0..<2).map { a[$0].order(to: b[$0]).rawValue * (directions[$0] ? 1 : -1) }
      let expected = orders[0] != 0 ? orders[0] : orders[1]
      let order = SortKeyBytes.order(
        key(Array(zip(a, directions)), hasMarker: true), key(Array(zip(b, directions)), hasMarker: true))
      #expect(sign(order) == expected, "\(a) \(b) \(directions)")
    }
  }
}
