import ChangeTracker
import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageReference
import StorageSQLite
import StoreInspection
import StoreValues
import VivariumTestSupport

/// Every way to keep a store.
enum HistoryEngine: String, CaseIterable, Sendable {
  case memory, reference, lmdb, sqlite

  static let files: [HistoryEngine] = [.lmdb, .sqlite]

  func backend(_ path: String) -> any StorageBackend {
    switch self {
    case .memory: MemoryBackend()
    case .reference: ReferenceBackend(name: nil, seed: 5)
    case .lmdb: LMDBBackend(path: path)
    case .sqlite: SQLiteBackend(path: path)
    }
  }
}

/// Commits that change a little of everything, as a store writes them.
struct RandomHistory {
  static let schema = Schema([
    ObjectSchema(
      "Node", .scalar("id", .int64, primaryKey: true), .scalar("code", .string, optional: true, unique: true),
      .scalar("rank", .int16, unique: true), .scalar("flag", .bool), .scalar("level", .int8), .scalar("float", .float),
      .scalar("weight", .double, indexed: true), .scalar("when", .date), .scalar("blob", .data, optional: true),
      .scalar("uuid", .uuid, optional: true), .scalar("number", .objectId, optional: true), .scalar("price", .decimal),
      .scalar("any", .mixed), .link("next", to: "Node"), .link("leaf", to: "Leaf"), .list("words", of: .string),
      .list("nodes", ofLinksTo: "Node"), .set("marks", of: .int64), .set("friends", ofLinksTo: "Node"),
      .map("notes", of: .mixed), .map("doors", ofLinksTo: "Leaf"), .inverse("before", of: "Node", "next")),
    ObjectSchema("Leaf", .scalar("text", .string, fullText: true), .list("numbers", of: .double, optional: true)),
  ])

  var random: SeededGenerator
  /// No object has more than some hundred bytes.
  var isSmall = false
  let node: TableEntry
  let leaf: TableEntry
  private var nextID: Int64 = 0

  /// Gives an empty store types and an identity.
  init(_ engine: any StorageEngine, _ random: SeededGenerator) throws {
    try engine.write(record: CommitRecord(origin: 7, changedCatalog: true)) { write in
      var catalog = try write.catalog.adopting(Self.schema).catalog
      catalog.identity = StoreIdentity()
      try write.setCatalog(catalog)
    }
    let read = try engine.beginRead()
    defer { read.end() }
    guard let node = read.catalog["Node"], let leaf = read.catalog["Leaf"] else {
      throw StorageError(.misuse, .engine, "The types are not in the catalog.")
    }
    (self.node, self.leaf, self.random) = (node, leaf, random)
  }

  /// One commit of some edits; now and then some are undone before.
  mutating func commit(_ engine: any StorageEngine) throws {
    try commit(engine) { history, write in
      for _ in 0..<1 + history.random.below(14) { try history.edit(write) }
      if history.random.oneIn(4) {
        try write.beginSavepoint()
        for _ in 0..<3 { try history.edit(write) }
        try write.rollbackToSavepoint()
      }
    }
  }

  mutating func commit(
    _ engine: any StorageEngine, _ body: (inout RandomHistory, RecordedTransaction) throws -> Void
  ) throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7, recordsValues: random.oneIn(2))
    defer { write.end() }
    try body(&self, write)
    _ = try write.commit(author: "somebody", timeMilliseconds: 1, .relaxed)
  }

  mutating func insertNode(_ write: RecordedTransaction) throws {
    let row = RowBuffer(node)
    nextID += 1
    for column in node.columns where column.schema.isScalar && column.schema.valueType?.mayLink == false {
      guard let slot = node.slot(of: column.id) else { continue }
      let value = column.schema.name == "id" ? .int(nextID) : scalar(column.schema)
      if value.isNull { row.setNull(slot) } else { row.set(slot, value) }
    }
    try Self.unlessTaken { _ = try write.insert(row) }
  }

  // MARK: Edits

  private mutating func edit(_ write: RecordedTransaction) throws {
    let (nodes, leaves) = (try keys(node, write), try keys(leaf, write))
    guard let owner = nodes.randomElement(using: &random), let other = nodes.randomElement(using: &random),
      let twig = leaves.randomElement(using: &random), !random.oneIn(4)
    else { return try insert(write) }
    switch random.below(11) {
    case 0: if nodes.count > 6 { try write.delete(node.id, owner) }
    case 1: if leaves.count > 4 { try write.delete(leaf.id, twig) }
    case 2: try exchange(write, owner, other)
    case 3: _ = try write.set(node.column(named: "next"), owner, random.oneIn(3) ? .null : .link(other))
    case 4: _ = try write.set(node.column(named: "leaf"), owner, random.oneIn(3) ? .null : .link(twig))
    case 5: try editList(write, owner, other)
    case 6: try editSets(write, owner, other)
    case 7: try editMaps(write, owner, twig)
    case 8: _ = try write.set(leaf.column(named: "text"), twig, .string(words()))
    default:
      guard let column = node.columns.filter({ $0.schema.isScalar && !$0.schema.isPrimaryKey && $0.schema.valueType != .link })
        .randomElement(using: &random)
      else { return }
      let (place, value) = (node.column(column.id), scalar(column.schema))
      try Self.unlessTaken { _ = try write.set(place, owner, value) }
    }
  }

  private mutating func insert(_ write: RecordedTransaction) throws {
    if random.oneIn(2) { return try insertNode(write) }
    let row = RowBuffer(leaf)
    if let slot = leaf.slot(of: leaf.id("text")) { row.set(slot, .string(words())) }
    let key = try write.insert(row)
    let numbers = (0..<random.below(5)).map { random.oneIn(3) ? Value.null : .double(Double($0)) }
    try write.edit(leaf.column(named: "numbers"), key, .insert(at: 0, numbers))
  }

  /// Two objects exchange a unique value.
  private func exchange(_ write: RecordedTransaction, _ a: ObjectKey, _ b: ObjectKey) throws {
    if a == b { return }
    for (name, spare) in [("rank", Value.int(-32_000)), ("code", .null)] {
      let column = node.column(named: name)
      let (first, second) = (try write.transaction.value(column, a), try write.transaction.value(column, b))
      _ = try write.set(column, a, spare)
      _ = try write.set(column, b, first)
      _ = try write.set(column, a, second)
    }
  }

  private mutating func editList(_ write: RecordedTransaction, _ owner: ObjectKey, _ other: ObjectKey) throws {
    let isLinks = random.oneIn(2)
    let column = node.column(named: isLinks ? "nodes" : "words")
    let count = try write.transaction.elementCount(column, owner)
    let value: Value = isLinks ? .link(other) : .string(words())
    switch random.below(5) {
    case 0:
      let values = Array(repeating: value, count: 1 + random.below(40))
      try write.edit(column, owner, .insert(at: random.below(count + 1), values))
    case 1: if count > 0 { try write.edit(column, owner, .set(at: random.below(count), value)) }
    case 2: if count > 1 { try write.edit(column, owner, .move(from: random.below(count), to: random.below(count))) }
    case 3: if count > 0 { try write.edit(column, owner, .remove(0..<1 + random.below(count))) }
    default: try write.edit(column, owner, .insert(at: count, [value]))
    }
  }

  private mutating func editSets(_ write: RecordedTransaction, _ owner: ObjectKey, _ other: ObjectKey) throws {
    let isLinks = random.oneIn(2)
    let column = node.column(named: isLinks ? "friends" : "marks")
    let value: Value = isLinks ? .link(other) : .int(Int64(random.below(9)))
    if random.oneIn(3) {
      _ = try write.remove(member: value, from: column, owner)
    } else {
      _ = try write.insert(member: value, into: column, owner)
    }
  }

  private mutating func editMaps(_ write: RecordedTransaction, _ owner: ObjectKey, _ twig: ObjectKey) throws {
    let isLinks = random.oneIn(2)
    let column = node.column(named: isLinks ? "doors" : "notes")
    let key = ["", "a", "b", "é"][random.below(4)]
    if random.oneIn(3) {
      _ = try write.remove(key: key, from: column, owner)
    } else {
      let value: Value = isLinks ? (random.oneIn(4) ? .null : .link(twig)) : RandomMixed.value(.mixed, &random)
      _ = try write.set(value, forKey: key, in: column, owner)
    }
  }

  // MARK: Values

  private static func unlessTaken(_ body: () throws -> Void) throws {
    do { try body() } catch let error as StorageError where error.code == .uniqueViolation {}
  }

  private func keys(_ table: TableEntry, _ write: RecordedTransaction) throws -> [ObjectKey] {
    var keys: [ObjectKey] = []
    try write.transaction.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row)) }
      return .proceed
    }
    return keys
  }

  private mutating func words() -> String {
    (0..<random.below(5)).map { _ in ["ape", "bee", "", "çédille"][random.below(4)] }.joined(separator: " ")
  }

  private mutating func scalar(_ schema: PropertySchema) -> Value {
    if schema.isOptional, random.oneIn(3) { return .null }
    switch schema.valueType {
    case .string: return .string(schema.name == "code" ? "\(random.below(40))" : words())
    case .int16: return .int(Int64(random.below(200)))
    case .bool: return .bool(random.oneIn(2))
    case .int8: return .int(Int64(random.below(256) - 128))
    case .float: return .float([0, -0.0, .nan, .infinity, 1.5][random.below(5)])
    case .double: return .double([0, -0.0, .nan, -.infinity, 0.1][random.below(5)])
    case .date: return .date(TimestampSamples.any(&random))
    case .data: return .data(Data(repeating: 7, count: !isSmall && random.oneIn(20) ? 90_000 : random.below(30)))
    case .uuid: return .uuid(UUID())
    case .objectId, .decimal, .mixed: return RandomMixed.value(schema.valueType ?? .mixed, &random)
    default: return .int(Int64(random.below(1_000)))
    }
  }
}

/// What a store has, for comparing: its version, objects, types and history.
struct Contents: Equatable {
  var version: Version
  var digest: String
  var catalog: Catalog
  var records: [CommitRecord]

  /// Also looks whether indexes, links and counts fit the objects.
  init(_ engine: any StorageEngine, recordsAfter base: Version) throws {
    let read = try engine.beginRead()
    defer { read.end() }
    (version, catalog, records) = (read.version, read.catalog, [])
    var kept: [CommitRecord] = []
    try read.history(after: base) { record in
      kept.append(record)
      return .proceed
    }
    records = kept
    let (output, faults) = (StringOutput(), StringOutput())
    try Inspector(engine, location: "test", format: .table, output: output).digest()
    try Inspector(engine, location: "test", format: .table, output: faults).verify()
    digest = output.text
  }
}

/// The code of the error that is thrown; nil if none is.
func code(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? StorageError)?.code.rawValue ?? "\(error)"
  }
}
