import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Extremes {
  @PrimaryKey var id = ObjectId()
  var flag: Bool?
  var int8: Int8?
  var int16: Int16?
  var int32: Int32?
  var int64: Int64?
  var float: Float?
  var double: Double?
  var string: String?
  var data: Data?
  var date: Date?
  var uuid: UUID?
  var objectId: ObjectId?
  var decimal: Decimal128?
  var mixed: AnyValue
  var doubles: LiveSet<Double>
  var decimals: LiveList<Decimal128>
  var texts: LiveMap<String>
  var mixeds: LiveMap<AnyValue>
  var part: ExtremePart?
  var parts: LiveMap<ExtremePart>
}

@Model(.embedded) final class ExtremePart { var text = "" }

/// Every type at its ends, on every engine, through `Vivarium`, and after the file was closed.
@Suite struct TypesTests {
  static let values: [String: [Value]] = [
    "flag": [.null, .bool(false), .bool(true)],
    "int8": [.null, .int(-128), .int(0), .int(127)],
    "int16": [.null, .int(-32_768), .int(32_767)],
    "int32": [.null, .int(Int64(Int32.min)), .int(Int64(Int32.max))],
    "int64": [.null, .int(.min), .int(-1), .int(.max)],
    "float": [.null, .float(-0.0), .float(.nan), .float(-.infinity), .float(.leastNonzeroMagnitude), .float(.greatestFiniteMagnitude)],
    "double": [.null, .double(-0.0), .double(.nan), .double(.infinity), .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude)],
    "string": [.null, .string(""), .string("\0"), .string("e\u{301}"), .string("é"), .string(String(repeating: "日", count: 5_000))],
    "data": [.null, .data(Data()), .data(Data([0])), .data(Data(repeating: 255, count: 20_000))],
    "date": [.null, .date(Timestamp(.distantPast)), .date(Timestamp(.distantFuture)), .date(Timestamp(word: 1)), .date(.nan)],
    "uuid": [.null, .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))), .uuid(UUID())],
    "objectId": [.null, .objectId(.zero), .objectId(ObjectId())],
    "decimal": ["1.50", "-0", "0E-6176", "9.999999999999999999999999999999999E+6144", "NaN", "-Infinity"]
      .map { Decimal128($0).map { .decimal($0) } ?? .null },
    "mixed": [.null, .int(1), .double(1), .string(""), .list([.null, .map(ValueMap([ValueMap.Entry("k", .double(.nan))]))])],
  ]

  @Test(arguments: Engine.allCases) func everyTypeIsBitExactAtItsExtremes(engine: Engine) throws {
    let directory = TemporaryDirectory("types")
    let configuration = engine.configuration(directory.file(), [Extremes.self, ExtremePart.self])
    let count = Self.values.values.map(\.count).max() ?? 0
    var ids: [ObjectId] = []
    func expectAll(_ store: Store) throws {
      for (position, id) in ids.enumerated() {
        let object = try #require(store.object(Extremes.self, forPrimaryKey: id))
        for (name, values) in Self.values {
          #expect(object[name] == values[position % values.count], "\(name) \(position)")
          #expect(object.snapshot()[name] == values[position % values.count], "\(name) \(position)")
        }
        #expect(object.double.map(\.bitPattern) == object.snapshot().double.map(\.bitPattern))
      }
    }
    var first: Store? = try Store(configuration)
    if let store = first {
      try store.write {
        for position in 0..<count {
          let object = Extremes()
          ids.append(object.id)
          for (name, values) in Self.values { try object.setValue(values[position % values.count], forKey: name) }
          try store.add(object)
        }
      }
      try expectAll(store)
    }
    first = nil
    if engine == .lmdb || engine == .sqlite { try expectAll(Store(configuration)) }
  }

  @Test(arguments: Engine.allCases) func everyCollectionIsTheSameOnEveryEngine(engine: Engine) throws {
    let directory = TemporaryDirectory("types")
    let store = try Store(engine.configuration(directory.file(), [Extremes.self, ExtremePart.self]))
    let object = Extremes(part: ExtremePart(text: "one"))
    object.doubles = [1, -0.0, .infinity]
    object.decimals = [Decimal128("1.50") ?? 0, Decimal128("-0") ?? 0]
    object.texts = ["b": "2", "a": "1"]
    object.mixeds = ["n": nil, "l": [1, "x"]]
    object.parts = ["p": ExtremePart(text: "two")]
    try store.write { try store.add(object) }
    try store.write {
      #expect(!object.doubles.insert(0) && object.doubles.insert(.nan) && !object.doubles.insert(.nan))
      object.doubles.remove(1)
      object.texts["c"] = "3"
      object.texts["a"] = nil
      object.mixeds["n"] = true
    }
    #expect(object.doubles.map(\.bitPattern) == [Double.nan, -0.0, .infinity].map(\.bitPattern))
    #expect(object.decimals.map(\.description) == ["1.50", "-0"])
    #expect(object.texts.keys == ["b", "c"] && object.mixeds["l"]?[1]?.string == "x" && object.mixeds["n"]?.bool == true)
    #expect(object.part?.text == "one" && object.parts["p"]?.text == "two")
    try store.write { try store.delete(object) }
    #expect(store.objects(ExtremePart.self).isEmpty)
  }
}
