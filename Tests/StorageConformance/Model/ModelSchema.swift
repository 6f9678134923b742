import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// The types of random histories, how they grow, and values for them.
struct ModelSchema {
  var objects: [ObjectSchema]
  private var added = 0

  static let start = ModelSchema(objects: [
    ObjectSchema(
      "Node", .scalar("id", .int64, primaryKey: true), .scalar("name", .string, indexed: true),
      .scalar("small", .int8, optional: true, indexed: true), .scalar("flag", .bool, optional: true),
      .scalar("real", .double, optional: true, indexed: true), .scalar("single", .float), .scalar("when", .date, optional: true),
      .scalar("uid", .uuid, optional: true, unique: true), .scalar("blob", .data, optional: true), .link("next", to: "Node", indexed: true),
      .link("leaf", to: "Leaf"), .list("children", ofLinksTo: "Node"), .list("leaves", ofLinksTo: "Leaf"),
      .list("numbers", of: .int64), .list("texts", of: .string, optional: true), .scalar("oid", .objectId, optional: true, indexed: true),
      .scalar("amount", .decimal, optional: true, indexed: true), .scalar("any", .mixed, indexed: true), .list("amounts", of: .decimal),
      .list("anything", of: .mixed), .set("tags", of: .string), .set("sizes", of: .double, optional: true), .set("marks", of: .mixed),
      .set("prices", of: .decimal), .set("friends", ofLinksTo: "Node"), .map("byName", ofLinksTo: "Leaf"), .map("attributes", of: .mixed),
      .map("counts", of: .int64), .map("notes", of: .string, optional: true), .inverse("parents", of: "Node", "children"),
      indexes: [
        IndexSchema(properties: ["small", "name"], isUnique: false), IndexSchema(properties: ["real", "flag"], isUnique: true),
        IndexSchema(properties: ["name", "real", "small"], isUnique: false), IndexSchema(properties: ["amount", "any", "flag"], isUnique: true),
      ]),
    ObjectSchema(
      "Leaf", .scalar("label", .string, optional: true, unique: true), .scalar("weight", .int32),
      .link("owner", to: "Node")),
  ])

  private init(objects: [ObjectSchema]) { self.objects = objects }

  /// Changes the schema in one of the ways that need no migration.
  mutating func grow(_ random: inout SeededGenerator) {
    added += 1
    let position = random.below(objects.count)
    switch random.below(6) {
    case 0 where objects.count < 6:
      objects.append(
        ObjectSchema(
          "Extra\(added)", .scalar("key", .string, unique: true), .scalar("count", .int16, optional: true, indexed: true),
          .list("nodes", ofLinksTo: "Node"), .link("leaf", to: "Leaf")))
    case 1 where objects[position].properties.count < 50:
      let type = ValueType.allCases.filter { $0 != .link }.randomElement(using: &random) ?? .bool
      let value = ModelSchema.value(of: type, &random)
      objects[position].properties.append(
        .scalar("p\(added)", type, optional: random.oneIn(2), indexed: random.oneIn(3), default: random.oneIn(2) ? value : nil))
    case 2 where objects[position].properties.count < 50:
      objects[position].properties.append(
        [
          .link("l\(added)", to: "Node", indexed: random.oneIn(2)), .list("x\(added)", ofLinksTo: "Leaf"),
          .set("s\(added)", ofLinksTo: "Node"), .map("m\(added)", of: .mixed),
        ][random.below(4)])
    case 3:
      let scalars = objects[position].properties.indices.filter {
        objects[position].properties[$0].isScalar && !objects[position].properties[$0].isPrimaryKey
      }
      if let scalar = scalars.randomElement(using: &random) { objects[position].properties[scalar].isIndexed.toggle() }
    case 4 where objects[position].indexes.count > 1:
      objects[position].indexes.remove(at: random.below(objects[position].indexes.count))
    default:
      let scalars = objects[position].properties.filter(\.isScalar).map(\.name).shuffled(using: &random)
      let index = IndexSchema(properties: Array(scalars.prefix(1 + random.below(3))), isUnique: random.oneIn(3))
      if objects[position].indexes.count < 5, !objects[position].allIndexes.contains(where: { $0.properties == index.properties }) {
        objects[position].indexes.append(index)
      }
    }
  }

  /// A value of the type from a small set, so that values meet again, edges included.
  static func value(of type: ValueType, _ random: inout SeededGenerator) -> Value {
    switch type {
    case .bool: return .bool(random.oneIn(2))
    case .int8: return .int(Int64([-128, -1, 0, 1, 2, 3, 127][random.below(7)]))
    case .int16, .int32: return .int(Int64(random.below(9) - 4) * [1, 1, 1, 8_191][random.below(4)])
    case .int64: return .int([Int64.min, Int64.max, Int64(random.below(2_000)), Int64(random.below(60)) - 30][random.below(12) == 0 ? random.below(2) : 2 + random.below(2)])
    case .float: return .float([0, -0.0, 1.5, -1.5, .nan, .infinity, Float(bitPattern: 71)][random.below(7)])
    case .double: return .double([0, -0.0, 0.1, -2.5, .nan, -.infinity, Double(random.below(50)) / 4][random.below(7)])
    case .string:
      let short = ["", "a", "ab", "abc", "b", "é", "e\u{301}", "\0", "a\0", "👩‍👩‍👧", "z"][random.below(11)]
      return .string(random.oneIn(30) ? String(repeating: "long ", count: random.below(900)) + short : short + "\(random.below(4))")
    case .data: return .data(Data(repeating: UInt8(random.below(4)), count: random.oneIn(25) ? random.below(9_000) : random.below(5)))
    case .date: return .date(TimestampSamples.any(&random))
    case .uuid:
      let byte = UInt8(random.below(40))
      return .uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255 - byte)))
    case .objectId, .decimal, .mixed: return RandomMixed.value(type, &random)
    case .link: return .null
    }
  }
}
