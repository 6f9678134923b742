import StorageInterface
import StoreValues

/// What a child that is to be killed, or whose power goes, writes, and what must hold of it afterwards: every commit puts one number
/// into an object, its index entry, its list, its links and its commit record.
public struct CrashLedger: Sendable {
  /// Objects that each commit adds.
  public static let width = 5

  public static let schema = Schema([
    ObjectSchema(
      "Entry", .scalar("writer", .int64), .scalar("number", .int64, indexed: true), .scalar("part", .int64),
      .scalar("text", .string), .list("numbers", of: .int64), .link("first", to: "Entry"),
      indexes: [IndexSchema(properties: ["writer", "number", "part"], isUnique: true)]),
    ObjectSchema("Last", .scalar("writer", .int64, primaryKey: true), .scalar("number", .int64), .list("all", of: .int64)),
  ])

  /// Makes the types, unless another writer did.
  public static func prepare(_ engine: any StorageEngine) throws {
    try engine.write(.full) { write in
      let (catalog, steps) = try write.catalog.adopting(schema)
      if !steps.isEmpty { try write.setCatalog(catalog) }
    }
  }

  /// The number that the writer committed last; 0 for none.
  public static func lastNumber(of writer: Int64, _ tx: any StorageReading) throws -> Int64 {
    guard let last = tx.catalog["Last"], let key = try tx.key(in: last.index("writer"), equal: [.int(writer)]) else { return 0 }
    return try tx.word(last.column(named: "number"), key) ?? 0
  }

  /// One commit of a writer's next number, which is returned. Some are undone halfway by a savepoint first, some
  /// take old entries away.
  public static func commitNext(
    _ writer: Int64, _ engine: any StorageEngine, _ durability: Durability, _ deadline: Deadline = .after(.seconds(600))
  ) throws -> Int64 {
    var number: Int64 = 0
    let write = try engine.beginWrite(deadline)
    defer { write.end() }
    number = try lastNumber(of: writer, write) + 1
    if number % 3 == 0 {
      try write.beginSavepoint()
      try put(writer, -number, write)
      try write.rollbackToSavepoint()
    }
    try put(writer, number, write)
    if number > 20 { try remove(writer, number - 20, write) }
    let record = CommitRecord(author: "\(writer)/\(number)", origin: UInt64(bitPattern: writer), timeMilliseconds: number)
    _ = try write.commit(record, durability)
    return number
  }

  private static func put(_ writer: Int64, _ number: Int64, _ write: any WriteTransaction) throws {
    guard let entry = write.catalog["Entry"], let last = write.catalog["Last"] else { return }
    var first: ObjectKey?
    for part in 0..<width {
      let size = part == 2 ? 3_000 : 10
      let key = try write.insert(
        entry,
        [
          "writer": .int(writer), "number": .int(number), "part": .int(Int64(part)),
          "text": .string(String(repeating: "\(number) ", count: size)), "first": first.map { .link($0) } ?? .null,
        ])
      first = first ?? key
      try write.edit(entry.column(named: "numbers"), key, .insert(at: 0, (0..<(part * 40)).map { _ in .int(number) }))
    }
    let lastKey = try write.key(in: last.index("writer"), equal: [.int(writer)]) ?? write.insert(last, ["writer": .int(writer)])
    try write.set(last.column(named: "number"), lastKey, word: number)
    try write.edit(last.column(named: "all"), lastKey, .insert(at: 0, [.int(number)]))
  }

  private static func remove(_ writer: Int64, _ number: Int64, _ write: any WriteTransaction) throws {
    guard let entry = write.catalog["Entry"] else { return }
    for key in try keys(of: writer, number, entry, write).reversed() {
      try write.set(entry.column(named: "first"), key, word: nil)
      try write.delete(entry.id, key)
    }
  }

  static func keys(of writer: Int64, _ number: Int64, _ entry: TableEntry, _ tx: any StorageReading) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    let range = IndexRange(equal: [.int(writer), .int(number)])
    try tx.keys(in: entry.index("writer", "number", "part"), range, descending: false) { block in
      keys += block.map { ObjectKey($0) }
      return .proceed
    }
    return keys
  }
}
