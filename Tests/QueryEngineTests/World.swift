import Foundation
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

/// Objects of a type that has every kind of scalar, with links, in a plain store and as dictionaries beside it.
struct World {
  static let scalars: [(name: String, type: ValueType, isOptional: Bool)] = [
    ("flag", .bool, false), ("flagO", .bool, true), ("tiny", .int8, false), ("short", .int16, true),
    ("medium", .int32, false), ("n", .int64, false), ("nO", .int64, true), ("f", .float, true), ("d", .double, false),
    ("dO", .double, true), ("s", .string, false), ("sO", .string, true), ("b", .data, true), ("t", .date, true),
    ("u", .uuid, true), ("oid", .objectId, true), ("dec", .decimal, true), ("x", .mixed, true),
  ]

  static let schema: Schema = {
    let indexed: Set<String> = ["tiny", "nO", "sO", "dO", "f", "u", "flagO", "dec", "t"]
    let properties = scalars.map {
      PropertySchema.scalar($0.name, $0.type, optional: $0.isOptional, indexed: indexed.contains($0.name))
    }
    let compound = [
      IndexSchema(properties: ["medium", "s"], isUnique: false), IndexSchema(properties: ["sO", "n", "d"], isUnique: false),
    ]
    return Schema([
      ObjectSchema(
        name: "Thing", properties: properties + [.link("best", to: "Thing"), .link("home", to: "Place", indexed: true)],
        indexes: compound),
      ObjectSchema("Place", .scalar("name", .string, optional: true), .scalar("size", .int64), .link("owner", to: "Thing")),
    ])
  }()

  let engine: any StorageEngine
  let catalog: Catalog
  let things: TableEntry
  /// The living objects by table and key.
  private(set) var rows: [String: [Int64: [String: Value]]] = ["Thing": [:], "Place": [:]]

  var keys: [Int64] { (rows["Thing"] ?? [:]).keys.sorted() }

  init(
    _ random: inout SeededGenerator, count: Int, on backend: any StorageBackend = ReferenceBackend(),
    values: RandomValues = RandomValues()
  ) throws {
    engine = try backend.open(OpenOptions())
    catalog = try engine.adopt(World.schema)
    things = try #require(catalog["Thing"])
    let places = try #require(catalog["Place"])
    var rows = rows
    let table = things
    try engine.write { write in
      for _ in 0..<max(1, count / 4) {
        let row: [String: Value] = [
          "name": values.value(.string, isOptional: true, &random), "size": values.value(.int64, isOptional: false, &random),
        ]
        rows["Place", default: [:]][try write.insert(places, row).rawValue] = row
      }
      for _ in 0..<count {
        var row: [String: Value] = [:]
        for scalar in World.scalars { row[scalar.name] = values.value(scalar.type, isOptional: scalar.isOptional, &random) }
        rows["Thing", default: [:]][try write.insert(table, row).rawValue] = row
      }
      for key in (rows["Thing"] ?? [:]).keys.sorted() where random.oneIn(10) {
        try write.delete(table.id, ObjectKey(key))
        rows["Thing"]?[key] = nil
      }
      for (type, entry, links) in [("Thing", table, ["best": "Thing", "home": "Place"]), ("Place", places, ["owner": "Thing"])] {
        for key in (rows[type] ?? [:]).keys.sorted() {
          for (link, target) in links.sorted(by: { $0.key < $1.key }) where !random.oneIn(4) {
            guard let other = (rows[target] ?? [:]).keys.sorted().randomElement(using: &random) else { continue }
            rows[type]?[key]?[link] = .link(ObjectKey(other))
            try write.set(entry.column(named: link), ObjectKey(key), word: other)
          }
        }
      }
    }
    self.rows = rows
  }

  /// Whether no link on the way is null.
  func reaches(_ path: PropertyPath, from key: Int64) -> Bool {
    var (type, key) = ("Thing", key)
    for name in path.components.dropLast() {
      guard case .link(let next)? = rows[type]?[key]?[name] else { return false }
      type = name == "home" ? "Place" : "Thing"
      key = next.rawValue
      if rows[type]?[key] == nil { return false }
    }
    return true
  }

  /// The value at the end of a path, null where a link is.
  func value(_ path: PropertyPath, of key: Int64) -> Value {
    var (type, key) = ("Thing", key)
    for name in path.components.dropLast() {
      guard case .link(let next)? = rows[type]?[key]?[name] else { return .null }
      type = name == "home" ? "Place" : "Thing"
      key = next.rawValue
    }
    return path.components.last.flatMap { rows[type]?[key]?[$0] } ?? .null
  }
}

/// Values that meet each other often, with the difficult ones among them.
struct RandomValues {
  func value(_ type: ValueType, isOptional: Bool, _ random: inout SeededGenerator) -> Value {
    if isOptional, random.oneIn(4) { return .null }
    switch type {
    case .bool: return .bool(random.oneIn(2))
    case .int8, .int16, .int32, .int64:
      let range = type.integerRange ?? 0...0
      if random.oneIn(12) { return .int([range.lowerBound, range.upperBound, range.lowerBound + 1].randomElement(using: &random) ?? 0) }
      if type == .int64, random.oneIn(8) { return .int(9_007_199_254_740_992 + Int64(random.below(4))) }
      return .int(Int64(random.below(8)) - 2)
    case .float: return .float(Float(double(&random)))
    case .double: return .double(double(&random))
    case .string: return .string(string(&random))
    case .data: return .data(Data((0..<random.below(4)).map { _ in [0, 97, 98, 255][random.below(4)] }))
    case .date: return .date(TimestampSamples.any(&random))
    case .uuid:
      let last = UInt8(random.below(3))
      return .uuid(UUID(uuid: (random.oneIn(2) ? 0 : 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)))
    case .objectId: return .objectId(ObjectId(timestamp: Date(timeIntervalSince1970: Double(random.below(3)))))
    case .decimal: return random.oneIn(3) ? RandomMixed.value(.decimal, &random) : .decimal(Decimal128(random.below(5)))
    case .mixed: return RandomValues.unlinked(RandomMixed.value(.mixed, &random))
    case .link: return .null
    }
  }

  /// Without the links in it, which would have to lead somewhere.
  private static func unlinked(_ value: Value) -> Value {
    switch value {
    case .object: .null
    case .list(let elements): .list(elements.map(unlinked))
    case .map(let map): .map(ValueMap(map.entries.map { ValueMap.Entry($0.key, unlinked($0.value)) }))
    default: value
    }
  }

  private func double(_ random: inout SeededGenerator) -> Double {
    let odd: [Double] = [.nan, .infinity, -.infinity, -0.0, 0.0, 0.1, 9_007_199_254_740_992, 1e300, -0x1p63, 0x1p63, .leastNonzeroMagnitude]
    if random.oneIn(4) { return odd[random.below(odd.count)] }
    return Double(random.below(12)) / 2 - 2
  }

  private func string(_ random: inout SeededGenerator) -> String {
    let parts = ["a", "b", "A", "á", "a\u{301}", "", "ab", "\0", "日", "🦄", "long enough for two words ", "x"]
    return (0..<random.below(4)).map { _ in parts[random.below(parts.count)] }.joined()
  }
}
