import Foundation
import StorageInterface
import StoreValues

/// A small store that has something of everything a file can hold, to be damaged.
public enum DamageSample {
  public static let schema = Schema([
    ObjectSchema(
      "Thing", .scalar("id", .int64, primaryKey: true), .scalar("flag", .bool), .scalar("small", .int8, indexed: true),
      .scalar("float", .float), .scalar("double", .double, optional: true, indexed: true), .scalar("date", .date, indexed: true),
      .scalar("name", .string, indexed: true), .scalar("note", .string, optional: true, fullText: true),
      .scalar("blob", .data, optional: true), .scalar("uuid", .uuid, unique: true), .scalar("object", .objectId),
      .scalar("money", .decimal, optional: true, indexed: true), .scalar("any", .mixed, indexed: true), .link("best", to: "Thing"),
      .list("numbers", of: .int64), .list("names", of: .string, optional: true), .list("friends", ofLinksTo: "Thing"),
      .set("tags", of: .string), .set("mixes", of: .mixed), .map("scores", of: .double, optional: true),
      .map("partners", ofLinksTo: "Thing"), .list("anything", of: .mixed), .inverse("fans", of: "Thing", "friends"),
      indexes: [IndexSchema(properties: ["flag", "name"], isUnique: false)]),
    ObjectSchema("Note", .scalar("text", .string, fullText: true), .scalar("rank", .int32, default: .int(7)), .link("about", to: "Thing")),
    ObjectSchema("Empty", .scalar("x", .int64)),
  ])

  /// Fills a new store in several commits, the last of which leaves holes.
  public static func fill(_ engine: any StorageEngine, count: Int = 150, _ random: inout SeededGenerator) throws {
    let catalog = try engine.adopt(schema)
    guard let thing = catalog["Thing"], let note = catalog["Note"] else { return }
    var keys: [ObjectKey] = []
    var made = 0
    while made < count {
      let part = Swift.min(count - made, 40)
      try engine.write(record: record(thing.id, made + 1...made + part)) { write in
        for i in made..<made + part { keys.append(try insert(thing, i, write, &random)) }
        for i in 0..<5 { _ = try write.insert(note, ["text": .string("note \(made) \(i)"), "about": .link(keys[made + i])]) }
      }
      made += part
    }
    try engine.write { write in
      for (i, key) in keys.enumerated() { try fillCollections(thing, key, i, keys, write, &random) }
    }
    try engine.write { write in
      for i in stride(from: 3, to: keys.count, by: 17) { try write.delete(thing.id, keys[i]) }
      try write.set(thing.column(named: "small"), keys[0], word: -3)
    }
  }

  private static func insert(
    _ table: TableEntry, _ i: Int, _ write: any WriteTransaction, _ random: inout SeededGenerator
  ) throws -> ObjectKey {
    let long = String(repeating: "long \(i) ", count: 200)
    let id: [UInt8] = (0..<16).map { $0 == 15 ? UInt8(truncatingIfNeeded: i) : $0 == 14 ? UInt8(truncatingIfNeeded: i >> 8) : 7 }
    return try write.insert(
      table,
      [
        "id": .int(Int64(i) * 3), "flag": .bool(i % 3 == 0), "small": .int(Int64(i % 100)), "float": .float(Float(i) / 3),
        "double": i % 5 == 0 ? .null : .double(Double(i) / 7), "date": .date(Timestamp(word: Int64(i) << 33)),
        "name": .string("name \(i % 37)"), "note": i % 9 == 0 ? .string(long) : .string("a few words \(i)"),
        "blob": i % 4 == 0 ? .null : .data(Data(id)), "uuid": id.withUnsafeBytes { Value(bytes: $0, type: .uuid) } ?? .null,
        "object": RandomMixed.value(.objectId, &random), "money": RandomMixed.value(.decimal, &random),
        "any": RandomMixed.value(.mixed, &random),
      ])
  }

  private static func fillCollections(
    _ table: TableEntry, _ key: ObjectKey, _ i: Int, _ keys: [ObjectKey], _ write: any WriteTransaction,
    _ random: inout SeededGenerator
  ) throws {
    func edit(_ name: String, _ values: [Value]) throws { try write.edit(table.column(named: name), key, .insert(at: 0, values)) }
    try write.set(table.column(named: "best"), key, .link(keys[(i * 7) % keys.count]))
    // Every tenth list is long enough to lie in segments.
    let length = i % 40 == 0 ? 400 + i : i % 4
    try edit("numbers", (0..<length).map { .int(Int64($0 * i)) })
    try edit("names", (0..<Swift.min(length, 90)).map { $0 % 3 == 0 ? .null : .string("n\($0)") })
    try edit("friends", (0..<length).map { .link(keys[($0 % 4 + i) % keys.count]) })
    try edit("anything", (0..<i % 4).map { _ in RandomMixed.value(.mixed, &random) })
    for n in 0..<(i % 40 == 0 ? 80 : i % 3) {
      _ = try write.insert(member: .string("tag \(n)"), into: table.column(named: "tags"), key)
      _ = try write.insert(member: .int(Int64(n)), into: table.column(named: "mixes"), key)
      _ = try write.set(n % 3 == 0 ? .null : .double(Double(n)), forKey: "key \(n)", in: table.column(named: "scores"), key)
      _ = try write.set(.link(keys[(i + n) % keys.count]), forKey: "p\(n)", in: table.column(named: "partners"), key)
    }
  }

  /// A record that says something of everything, whether it is true or not.
  private static func record(_ table: TableID, _ keys: ClosedRange<Int>) -> CommitRecord {
    let owner = ObjectKey(Int64(keys.lowerBound))
    var record = CommitRecord(author: "sample", origin: 7, timeMilliseconds: 1_700_000_000_000)
    var change = TableChange(table: table, inserted: KeyRuns(runs: [Int64(keys.lowerBound)...Int64(keys.upperBound)]))
    change.deleted = KeyRuns([1_000_000, 1_000_001])
    change.modified = [ModifiedObject(key: owner, properties: PropertySet([PropertyID(1), PropertyID(80)]))]
    change.lists = [
      ListChange(owner: owner, property: PropertyID(15), edits: [.insert(at: 0, count: 3), .remove(0..<1), .move(from: 0, to: 1)])
    ]
    let members = [MemberChange(.string("t"), .inserted)]
    change.collections = [RecordedCollectionChange(owner: owner, property: PropertyID(18), members: members)]
    record.tables = [change]
    record.values = [RecordedValueChange(ColumnID(table, PropertyID(1)), owner, old: .int(1), new: .int(2))]
    return record
  }
}
