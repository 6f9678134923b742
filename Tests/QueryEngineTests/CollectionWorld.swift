import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// Objects with every kind of collection, mixed values, embedded objects and links between them, in a store and as plain
/// values beside it.
struct CollectionWorld {
  /// A property of one object: a single value, or elements with the keys of a map.
  enum Held {
    case one(Value)
    case many([(key: String, value: Value)])
  }

  static let schema = Schema([
    ObjectSchema(
      "Item", .scalar("n", .int64, optional: true, indexed: true), .scalar("d", .double, optional: true),
      .scalar("s", .string, optional: true), .scalar("x", .mixed, optional: true), .list("nums", of: .int64, optional: true),
      .set("tags", of: .string), .map("scores", of: .double, optional: true), .list("mixes", of: .mixed, optional: true),
      .map("mm", of: .mixed, optional: true), .link("next", to: "Item"), .list("links", ofLinksTo: "Item"),
      .set("parts", ofLinksTo: "Item"), .map("named", ofLinksTo: "Item"), .link("addr", to: "Address"),
      .list("addresses", ofLinksTo: "Address"), .inverse("by", of: "Item", "links")),
    ObjectSchema(
      name: "Address",
      properties: [.scalar("city", .string, optional: true), .scalar("zip", .int64, optional: true)], isEmbedded: true),
  ])

  let engine: any StorageEngine
  let catalog: Catalog
  /// The objects by type and key.
  private(set) var objects: [String: [Int64: [String: Held]]] = ["Item": [:], "Address": [:]]

  var keys: [Int64] { (objects["Item"] ?? [:]).keys.sorted() }

  init(_ backend: any StorageBackend, _ random: inout SeededGenerator, count: Int) throws {
    engine = try backend.open(OpenOptions())
    catalog = try engine.adopt(CollectionWorld.schema)
    guard let items = catalog["Item"], let addresses = catalog["Address"] else { return }
    var objects = objects
    try engine.write { write in
      var made: [ObjectKey] = []
      for _ in 0..<count {
        var row: [String: Value] = [:]
        for (name, type) in [("n", ValueType.int64), ("d", .double), ("s", .string)] {
          row[name] = CollectionWorld.value(type, isOptional: true, &random)
        }
        let key = try write.insert(items, row)
        made.append(key)
        objects["Item"]?[key.rawValue] = row.mapValues { .one($0) }
      }
      func item(_ random: inout SeededGenerator) -> ObjectKey { made[random.below(made.count)] }
      func address(_ random: inout SeededGenerator) throws -> ObjectKey {
        let row: [String: Value] = [
          "city": CollectionWorld.value(.string, isOptional: true, &random),
          "zip": CollectionWorld.value(.int64, isOptional: true, &random),
        ]
        let key = try write.insert(addresses, row)
        objects["Address"]?[key.rawValue] = row.mapValues { .one($0) }
        return key
      }
      for key in made {
        var held = objects["Item"]?[key.rawValue] ?? [:]
        func list(_ name: String, _ values: [Value]) throws {
          if !values.isEmpty { try write.edit(items.column(named: name), key, .insert(at: 0, values)) }
          held[name] = .many(values.map { ("", $0) })
        }
        func set(_ name: String, _ values: [Value]) throws {
          for value in values { _ = try write.insert(member: value, into: items.column(named: name), key) }
          var sorted: [Value] = []
          for value in values.sorted(by: { $0.order(to: $1) == .before }) where sorted.last?.order(to: value) != .same { sorted.append(value) }
          held[name] = .many(sorted.map { ("", $0) })
        }
        func map(_ name: String, _ entries: [String: Value]) throws {
          for (entry, value) in entries { _ = try write.set(value, forKey: entry, in: items.column(named: name), key) }
          held[name] = .many(entries.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        }
        func few(_ make: (inout SeededGenerator) -> Value) -> [Value] { (0..<random.below(5)).map { _ in make(&random) } }
        func keyed(_ make: (inout SeededGenerator) -> Value) -> [String: Value] {
          var entries: [String: Value] = [:]
          for name in ["a", "k", "p"] where random.oneIn(2) { entries[name] = make(&random) }
          return entries
        }
        let x = CollectionWorld.mixed(&random, item, items.id)
        if !x.isNull { try write.set(items.column(named: "x"), key, x) }
        held["x"] = .one(x)
        try list("nums", few { CollectionWorld.value(.int64, isOptional: true, &$0) })
        try set("tags", few { CollectionWorld.value(.string, isOptional: false, &$0) })
        try map("scores", keyed { CollectionWorld.value(.double, isOptional: true, &$0) })
        try list("mixes", few { CollectionWorld.mixed(&$0, item, items.id) })
        try map("mm", keyed { CollectionWorld.mixed(&$0, item, items.id) })
        try list("links", few { .link(item(&$0)) })
        try set("parts", few { .link(item(&$0)) })
        try map("named", keyed { random in random.oneIn(4) ? .null : .link(item(&random)) })
        held["next"] = .one(.null)
        if !random.oneIn(3) {
          let other = item(&random)
          try write.set(items.column(named: "next"), key, word: other.rawValue)
          held["next"] = .one(.link(other))
        }
        held["addr"] = .one(.null)
        if random.oneIn(2) {
          let other = try address(&random)
          try write.set(items.column(named: "addr"), key, word: other.rawValue)
          held["addr"] = .one(.link(other))
        }
        var homes: [Value] = []
        for _ in 0..<random.below(3) { homes.append(.link(try address(&random))) }
        try list("addresses", homes)
        objects["Item"]?[key.rawValue] = held
      }
    }
    self.objects = objects
  }

  /// Values that meet each other often.
  static func value(_ type: ValueType, isOptional: Bool, _ random: inout SeededGenerator) -> Value {
    if isOptional, random.oneIn(5) { return .null }
    switch type {
    case .int64: return .int(Int64(random.below(6)) - 1)
    case .double: return .double([-1, 0, -0.0, 0.5, 1, 2, 3, .nan, .infinity][random.below(9)])
    case .string: return .string(["", "a", "A", "b", "ab", "á", "1"][random.below(7)])
    default: return .bool(random.oneIn(2))
    }
  }

  static func mixed(_ random: inout SeededGenerator, _ item: (inout SeededGenerator) -> ObjectKey, _ table: TableID, depth: Int = 0) -> Value {
    switch random.below(depth < 2 ? 9 : 6) {
    case 0: return .null
    case 1, 2: return value(.int64, isOptional: false, &random)
    case 3: return value(.double, isOptional: false, &random)
    case 4: return value(.string, isOptional: false, &random)
    case 5: return random.oneIn(2) ? .bool(true) : .decimal(Decimal128(random.below(4)))
    case 6: return .object(ObjectLink(table, item(&random)))
    case 7: return .list((0..<random.below(3)).map { _ in mixed(&random, item, table, depth: depth + 1) })
    default:
      var map = ValueMap()
      for name in ["a", "k"] where random.oneIn(2) { map[name] = mixed(&random, item, table, depth: depth + 1) }
      return .map(map)
    }
  }
}
