import Foundation
import StoreValues
import Testing

struct OrderKeyTests {
  private static let values: [Value] = {
    let doubles: [Double] = [
      .nan, -.infinity, -.greatestFiniteMagnitude, -1.5, -1, -0.0, 0, .leastNonzeroMagnitude, 0.1, 1, 1.5, 0x1p53, 0x1p63, 1e300, .infinity,
    ]
    let decimals = [
      "NaN", "-Infinity", "-1E+400", "-1.5", "-1E-400", "0", "-0", "1E-400", "0.1", "1", "1.0", "9007199254740993", "9.2E+18", "1E+400",
      "Infinity", "1.000000000000000000000000000000001", "0.1000000000000000055511151231257827",
    ].compactMap { Decimal128($0) }
    let integers: [Int64] = [.min, -1, 0, 1, 2, 9_007_199_254_740_993, .max]
    let texts = ["", "\0", "\0\0", "a", "a\0", "a\0b", "ab", "é", "e\u{301}"]
    let datas = texts.map { Data($0.utf8) } + [Data([255])]
    var all: [Value] = [.null, .bool(false), .bool(true)]
    all += doubles.flatMap { [.double($0), .float(Float($0)), .date(Timestamp(secondsSinceReferenceDate: $0))] }
    all += decimals.map { .decimal($0) }
    all += integers.map { .int($0) }
    all += texts.map { .string($0) }
    all += datas.map { .data($0) }
    all += [.objectId(.zero), .objectId(ObjectId()), .uuid(UUID()), .link(ObjectKey(3)), .link(ObjectKey(-1))]
    all += [.object(ObjectLink(TableID(1), ObjectKey(7))), .object(ObjectLink(TableID(2), ObjectKey(1)))]
    let lists: [Value] = [
      .list([]), .list([.null]), .list([.int(1)]), .list([.int(1), .int(2)]), .list([.double(1)]), .list([.list([])]),
      .map([:]), .map(["": .null]), .map(["a": .int(1)]), .map(["a": .int(1), "b": .null]), .map(["a": .int(2)]), .map(["a\0": .int(1)]),
    ]
    return all + lists
  }()

  @Test func objectsAreSortedByValuesButNotByWhatCollectionsHold() {
    func isCollection(_ value: Value) -> Bool { value.kindRank >= Value.list([]).kindRank }
    for a in Self.values {
      for b in Self.values {
        let isTie = isCollection(a) && a.kindRank == b.kindRank
        #expect(Value.Order.compare(a.sortKey, b.sortKey) == (isTie ? .same : a.order(to: b)), "\(a) and \(b)")
      }
    }
  }

  @Test func theOrderOfKeysIsTheOrderOfValues() {
    for a in Self.values {
      for b in Self.values {
        #expect(Value.Order.compare(a.orderKey, b.orderKey) == a.order(to: b), "\(a) and \(b)")
        #expect(a.order(to: b) == b.order(to: a).reversed, "\(a) and \(b)")
      }
    }
  }

  @Test func theKindsOfMixedValuesAreOrdered() {
    let kinds: [Value] = [
      .null, .bool(true), .int(5), .string(""), .data(Data()), .date(Timestamp(secondsSinceReferenceDate: 0)), .objectId(.zero),
      .uuid(UUID()), .object(ObjectLink(TableID(1), ObjectKey(1))), .list([]), .map([:]),
    ]
    #expect(kinds.sorted { $0.order(to: $1) == .before } == kinds)
  }

  @Test func noKeyBeginsAnother() {
    let keys = Set(Self.values.map(\.orderKey))
    for key in keys {
      #expect(!keys.contains { $0.count > key.count && $0.starts(with: key) })
    }
  }

  @Test func everyMixedValueIsReadBackFromItsBytes() {
    for value in Self.values where value.fits(.mixed) && !value.isNull {
      let bytes = MixedCoding.encode(value) ?? []
      #expect(bytes.withUnsafeBytes { MixedCoding.decode($0) } == value)
      // No part of it is a value cut off, unless it is text or data.
      for length in 0..<bytes.count { _ = bytes.prefix(length).withUnsafeBytes { MixedCoding.decode($0) } }
    }
    #expect(MixedCoding.encode(.link(ObjectKey(1))) == nil)
    #expect(MixedCoding.encode(.null) == nil)
  }

  @Test func aValueTooDeepIsRefusedInBothDirections() {
    let deepest = (1..<MixedCoding.depthMax).reduce(Value.list([])) { value, _ in .list([value]) }
    #expect(deepest.fits(.mixed))
    #expect(!Value.list([deepest]).fits(.mixed))
    #expect([UInt8]([200]).withUnsafeBytes { MixedCoding.decode($0) } == nil)
  }

  @Test func keysOfAMapAreTheirBytes() {
    var map = ValueMap([ValueMap.Entry("é", .int(1)), ValueMap.Entry("e\u{301}", .int(2)), ValueMap.Entry("é", .int(3))])
    #expect(map.count == 2 && map["é"] == .int(3) && map["e\u{301}"] == .int(2))
    map["é"] = nil
    #expect(map.entries.map(\.value) == [.int(2)])
  }

  @Test func linksAreFoundAndTakenOutAtAnyDepth() {
    let link = ObjectLink(TableID(3), ObjectKey(9))
    let value = Value.list([.object(link), .map(["a": .list([.object(link), .int(1)])])])
    #expect(value.links == [link, link])
    #expect(value.nullifying(link) == .list([.null, .map(["a": .list([.null, .int(1)])])]))
  }

  @Test func anObjectIdIsItsHexadecimalDigits() throws {
    let id = try #require(ObjectId("0123456789abcdefFEDCBA98"))
    #expect(id.description == "0123456789abcdeffedcba98" && id.bytes[0] == 1 && id.bytes[11] == 0x98)
    #expect(ObjectId(bytes: id.bytes) == id)
    #expect(ObjectId("0123456789abcdefFEDCBA9") == nil && ObjectId("0123456789abcdefFEDCBA9g") == nil && ObjectId("+123456789abcdefFEDCBA98") == nil)
    #expect(ObjectId() < ObjectId() || ObjectId() != ObjectId())
    #expect(ObjectId(timestamp: Date(timeIntervalSince1970: 77)).seconds == 77)
  }
}
