import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A list, a set and a map of each type.
@Model final class Bag {
  @PrimaryKey var id = 0
  var bools: LiveList<Bool>
  var boolsSet: LiveSet<Bool>
  var boolsMap: LiveMap<Bool>
  var ints: LiveList<Int>
  var intsSet: LiveSet<Int>
  var intsMap: LiveMap<Int>
  var int8s: LiveList<Int8>
  var int8sSet: LiveSet<Int8>
  var int8sMap: LiveMap<Int8>
  var int16s: LiveList<Int16>
  var int16sSet: LiveSet<Int16>
  var int16sMap: LiveMap<Int16>
  var int32s: LiveList<Int32>
  var int32sSet: LiveSet<Int32>
  var int32sMap: LiveMap<Int32>
  var int64s: LiveList<Int64>
  var int64sSet: LiveSet<Int64>
  var int64sMap: LiveMap<Int64>
  var floats: LiveList<Float>
  var floatsSet: LiveSet<Float>
  var floatsMap: LiveMap<Float>
  var doubles: LiveList<Double>
  var doublesSet: LiveSet<Double>
  var doublesMap: LiveMap<Double>
  var strings: LiveList<String>
  var stringsSet: LiveSet<String>
  var stringsMap: LiveMap<String>
  var datas: LiveList<Data>
  var datasSet: LiveSet<Data>
  var datasMap: LiveMap<Data>
  var dates: LiveList<Date>
  var datesSet: LiveSet<Date>
  var datesMap: LiveMap<Date>
  var timestamps: LiveList<Timestamp>
  var timestampsSet: LiveSet<Timestamp>
  var timestampsMap: LiveMap<Timestamp>
  var uuids: LiveList<UUID>
  var uuidsSet: LiveSet<UUID>
  var uuidsMap: LiveMap<UUID>
  var objectIds: LiveList<ObjectId>
  var objectIdsSet: LiveSet<ObjectId>
  var objectIdsMap: LiveMap<ObjectId>
  var decimals: LiveList<Decimal128>
  var decimalsSet: LiveSet<Decimal128>
  var decimalsMap: LiveMap<Decimal128>
  var mixeds: LiveList<AnyValue>
  var mixedsSet: LiveSet<AnyValue>
  var mixedsMap: LiveMap<AnyValue>
  var part: Part?
  var parts: LiveList<Part>
  var partsByName: LiveMap<Part>
}

/// Each type in an embedded object.
@Model(.embedded) final class Part {
  var bool: Bool?
  var int: Int?
  var int8: Int8?
  var int16: Int16?
  var int32: Int32?
  var int64: Int64?
  var float: Float?
  var double: Double?
  var string: String?
  var data: Data?
  var date: Date?
  var timestamp: Timestamp?
  var uuid: UUID?
  var objectId: ObjectId?
  var decimal: Decimal128?
  var mixed: AnyValue
}

/// For each type and each way to hold it: what goes in comes out bit for bit, at the ends of the type and in between, on every
/// engine and after the file was closed.
@Suite struct TypeLawTests {
  private static let models: [any SchemaDescribing.Type] = [Bag.self, Part.self]

  @Test(arguments: Engine.allCases) func boolsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Bool.self, engine, \.bools, \.boolsSet, \.boolsMap, \.bool) { $0.bool = $1 }
  }

  @Test(arguments: Engine.allCases) func integersComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Int.self, engine, \.ints, \.intsSet, \.intsMap, \.int) { $0.int = $1 }
  }

  @Test(arguments: Engine.allCases) func int8sComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Int8.self, engine, \.int8s, \.int8sSet, \.int8sMap, \.int8) { $0.int8 = $1 }
  }

  @Test(arguments: Engine.allCases) func int16sComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Int16.self, engine, \.int16s, \.int16sSet, \.int16sMap, \.int16) { $0.int16 = $1 }
  }

  @Test(arguments: Engine.allCases) func int32sComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Int32.self, engine, \.int32s, \.int32sSet, \.int32sMap, \.int32) { $0.int32 = $1 }
  }

  @Test(arguments: Engine.allCases) func int64sComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Int64.self, engine, \.int64s, \.int64sSet, \.int64sMap, \.int64) { $0.int64 = $1 }
  }

  @Test(arguments: Engine.allCases) func floatsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Float.self, engine, \.floats, \.floatsSet, \.floatsMap, \.float) { $0.float = $1 }
  }

  @Test(arguments: Engine.allCases) func doublesComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Double.self, engine, \.doubles, \.doublesSet, \.doublesMap, \.double) { $0.double = $1 }
  }

  @Test(arguments: Engine.allCases) func stringsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(String.self, engine, \.strings, \.stringsSet, \.stringsMap, \.string) { $0.string = $1 }
  }

  @Test(arguments: Engine.allCases) func dataComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Data.self, engine, \.datas, \.datasSet, \.datasMap, \.data) { $0.data = $1 }
  }

  @Test(arguments: Engine.allCases) func whatIsStoredOfDatesComesBackFromEveryHolder(engine: Engine) throws {
    try law(Date.self, engine, \.dates, \.datesSet, \.datesMap, \.date) { $0.date = $1 }
  }

  @Test(arguments: Engine.allCases) func timestampsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Timestamp.self, engine, \.timestamps, \.timestampsSet, \.timestampsMap, \.timestamp) { $0.timestamp = $1 }
  }

  @Test(arguments: Engine.allCases) func uuidsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(UUID.self, engine, \.uuids, \.uuidsSet, \.uuidsMap, \.uuid) { $0.uuid = $1 }
  }

  @Test(arguments: Engine.allCases) func objectIdsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(ObjectId.self, engine, \.objectIds, \.objectIdsSet, \.objectIdsMap, \.objectId) { $0.objectId = $1 }
  }

  @Test(arguments: Engine.allCases) func decimalsComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(Decimal128.self, engine, \.decimals, \.decimalsSet, \.decimalsMap, \.decimal) { $0.decimal = $1 }
  }

  @Test(arguments: Engine.allCases) func mixedValuesComeBackBitExactFromEveryHolder(engine: Engine) throws {
    try law(AnyValue.self, engine, \.mixeds, \.mixedsSet, \.mixedsMap, \.mixed) { $0.mixed = $1 }
  }

  /// `set` puts a value into a part.
  private func law<T: Scalar>(
    _ type: T.Type, _ engine: Engine, _ list: KeyPath<Bag, LiveList<T>>, _ set: KeyPath<Bag, LiveSet<T>>,
    _ map: KeyPath<Bag, LiveMap<T>>, _ part: KeyPath<Part, T?>, _ put: (Part, T) -> Void
  ) throws {
    try check(type, engine, list, set, map, { $0[keyPath: part] }, put)
  }

  private func law(
    _ type: AnyValue.Type, _ engine: Engine, _ list: KeyPath<Bag, LiveList<AnyValue>>, _ set: KeyPath<Bag, LiveSet<AnyValue>>,
    _ map: KeyPath<Bag, LiveMap<AnyValue>>, _ part: KeyPath<Part, AnyValue>, _ put: (Part, AnyValue) -> Void
  ) throws {
    try check(type, engine, list, set, map, { $0[keyPath: part] }, put)
  }

  private func check<T: Scalar>(
    _ type: T.Type, _ engine: Engine, _ list: KeyPath<Bag, LiveList<T>>, _ set: KeyPath<Bag, LiveSet<T>>,
    _ map: KeyPath<Bag, LiveMap<T>>, _ part: (Part) -> T?, _ put: (Part, T) -> Void
  ) throws {
    var random = SeededGenerator.forTest("\(type) \(engine)")
    let values = (ScalarSamples.extremes(T._$type) + (0..<20).map { _ in ScalarSamples.any(T._$type, &random) })
      .map { value in T(persisted: value) }
    #expect(!values.contains(nil))
    let given = values.compactMap { $0 }
    let directory = TemporaryDirectory("laws")
    let configuration = engine.configuration(directory.file(), Self.models)
    func expectAll(_ store: Store) throws {
      for id in [1, 2] {
        let bag = try #require(store.object(Bag.self, forPrimaryKey: id))
        #expect(bag[keyPath: list].map(\.persistedValue) == given.map(\.persistedValue))
        #expect(bag[keyPath: set].map(\.persistedValue) == ScalarSamples.distinct(given.map(\.persistedValue)))
        #expect(bag[keyPath: map].map(\.value.persistedValue) == sorted(given).map(\.1.persistedValue))
        #expect(bag[keyPath: map].keys == sorted(given).map(\.0))
        #expect(bag.parts.map { part($0)?.persistedValue } == given.map(\.persistedValue))
        #expect(bag.part.flatMap { part($0) }?.persistedValue == given.first?.persistedValue)
        #expect(bag.partsByName["last"].flatMap { part($0) }?.persistedValue == given.last?.persistedValue)
        for value in given { #expect(bag[keyPath: set].contains(value)) }
      }
    }
    var first: Store? = try Store(configuration)
    if let store = first {
      // One is filled before it is added, the other in the store.
      let (filled, empty) = (Bag(id: 1), Bag(id: 2))
      fill(filled, given, list, set, map, put)
      try store.write {
        try store.add(filled)
        try store.add(empty)
        fill(empty, given, list, set, map, put)
      }
      try expectAll(store)
    }
    first = nil
    if engine == .lmdb || engine == .sqlite { try expectAll(Store(configuration)) }
  }

  private func fill<T: Scalar>(
    _ bag: Bag, _ given: [T], _ list: KeyPath<Bag, LiveList<T>>, _ set: KeyPath<Bag, LiveSet<T>>,
    _ map: KeyPath<Bag, LiveMap<T>>, _ put: (Part, T) -> Void
  ) {
    func made(_ value: T) -> Part {
      let part = Part()
      put(part, value)
      return part
    }
    bag[keyPath: list].append(contentsOf: given)
    for value in given { bag[keyPath: set].insert(value) }
    for (key, value) in sorted(given) { bag[keyPath: map][key] = value }
    bag.parts.append(contentsOf: given.map { made($0) })
    bag.part = given.first.map { made($0) }
    if let last = given.last { bag.partsByName["last"] = made(last) }
  }

  /// Values under odd keys, in the order of the keys' bytes.
  private func sorted<T>(_ given: [T]) -> [(String, T)] {
    let odd = ["", "\0", "e\u{301}", "é", "日本", String(repeating: "k", count: 300)]
    return given.enumerated().map { ($0 < odd.count ? odd[$0] : "\($0)", $1) }
      .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
  }
}
