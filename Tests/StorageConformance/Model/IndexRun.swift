import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

/// A random history of small commits to a type with indexes of every kind, by engines on one store, as processes make it, beside the
/// plain engine. After each commit every engine shows what the plain one shows: each index from either end, ranges, counts, look-ups and
/// backlinks; so do open writes, savepoints, and snapshots that were kept. The seed decides everything.
public struct IndexRun {
  let open: () throws -> any StorageEngine
  var engines: [any StorageEngine]
  let plain: ReferenceEngine
  var random: SeededGenerator
  var readers: [(real: any ReadTransaction, plain: any ReadTransaction)] = []
  private var hasMore = false
  private var log: [String] = []

  /// `open` gives another engine on the same store each time.
  public init(_ random: SeededGenerator, engines count: Int = 2, open: @escaping () throws -> any StorageEngine) throws {
    (self.random, self.open) = (random, open)
    engines = try (0..<count).map { _ in try open() }
    guard let plain = try ReferenceBackend().open(OpenOptions()) as? ReferenceEngine else {
      throw ConformanceFailure("the reference backend opened another engine")
    }
    self.plain = plain
    try engines[0].adopt(IndexRun.schema(more: false))
    try plain.adopt(IndexRun.schema(more: false))
  }

  private static func schema(more: Bool) -> Schema {
    var indexes = [
      IndexSchema(properties: ["group", "name"], isUnique: false), IndexSchema(properties: ["name", "rank"], isUnique: true),
    ]
    if more { indexes.append(IndexSchema(properties: ["rank", "level"], isUnique: false)) }
    return Schema([
      ObjectSchema(
        "Item", .scalar("id", .int64, primaryKey: true), .scalar("name", .string, indexed: true),
        .scalar("rank", .int32, optional: true, indexed: true), .scalar("group", .int64, indexed: true),
        .scalar("level", .double, indexed: true), .scalar("code", .string, optional: true, unique: true),
        .scalar("day", .date, optional: true, indexed: more), .link("next", to: "Item", indexed: true),
        .list("others", ofLinksTo: "Item"), indexes: indexes)
    ])
  }

  /// Plays so many commits. Throws what differs, with the last steps.
  public mutating func play(_ commits: Int) throws {
    do {
      for _ in 0..<commits {
        try commit()
        try compare()
      }
      for reader in readers { try compare(reader.real, reader.plain, "a snapshot of \(reader.real.version)") }
      while let reader = readers.popLast() {
        reader.real.end()
        reader.plain.end()
      }
    } catch {
      throw ConformanceFailure("seed \(random.seed): \(error)\nlast steps:\n  " + log.suffix(30).joined(separator: "\n  "))
    }
  }

  // MARK: Writing

  private mutating func commit() throws {
    let number = random.below(engines.count)
    log.append("engine \(number) writes")
    let pair = ModelPair(real: try engines[number].beginWrite(.after(.seconds(600))), plain: try plain.beginWrite(.never))
    defer {
      pair.real.end()
      pair.plain.end()
    }
    let had = hasMore
    let changesSchema = random.oneIn(12)
    if changesSchema, random.oneIn(2) { try changeSchema(pair) }
    for _ in 0..<(random.oneIn(20) ? 60 : 1 + random.below(3)) { try change(pair, depth: 0) }
    if changesSchema, random.oneIn(2) { try changeSchema(pair) }
    if random.oneIn(6) { try compare(pair.real, pair.plain, "in the write") }
    if random.oneIn(10) {
      log.append("ends without a commit")
      hasMore = had
      return
    }
    try pair.both { try $0.commit(CommitRecord(changedCatalog: changesSchema), .relaxed) }
  }

  private mutating func changeSchema(_ pair: ModelPair) throws {
    hasMore.toggle()
    log.append(hasMore ? "adds indexes" : "drops indexes")
    let catalog = try pair.plain.catalog.adopting(IndexRun.schema(more: hasMore)).catalog
    try pair.both { try $0.setCatalog(catalog) }
  }

  private mutating func change(_ pair: ModelPair, depth: Int) throws {
    guard let table = pair.plain.catalog["Item"] else { throw ConformanceFailure("there is no table") }
    switch random.below(14) {
    case 0...5: try insert(pair, table)
    case 6...8: try set(pair, table)
    case 9: try delete(pair, table)
    case 10: try link(pair, table)
    case 11 where depth < 3:
      log.append("savepoint")
      try pair.both { try $0.beginSavepoint() }
      let had = hasMore
      if random.oneIn(8) { try changeSchema(pair) }
      for _ in 0..<1 + random.below(4) { try change(pair, depth: depth + 1) }
      if random.oneIn(3) { try compare(pair.real, pair.plain, "in a savepoint") }
      let keeps = random.oneIn(2)
      if !keeps { hasMore = had }
      log.append(keeps ? "release" : "undo")
      try pair.both { if keeps { try $0.releaseSavepoint() } else { try $0.rollbackToSavepoint() } }
      if random.oneIn(3) { try compare(pair.real, pair.plain, "after a savepoint") }
    default: try compareSome(pair.real, pair.plain, table)
    }
  }

  private mutating func insert(_ pair: ModelPair, _ table: TableEntry) throws {
    let row = RowBuffer(table)
    for (slot, column) in table.columns.enumerated() where column.schema.isScalar {
      row.set(slot, try value(column.schema.name, pair.plain, table))
    }
    log.append("insert")
    // The engine's key first: it may leave gaps.
    let real = try ModelOutcome { try pair.real.insert(row) }
    if let key = real.value { plain.setNextKey(of: table.id, key) }
    let expected = try ModelOutcome { try pair.plain.insert(row) }
    try expect(real == expected, "an insertion gave \(real), the plain one \(expected)")
  }

  private mutating func set(_ pair: ModelPair, _ table: TableEntry) throws {
    guard let key = try anyKey(pair.plain, table), let column = table.columns.filter(\.schema.isScalar).randomElement(using: &random),
      case .scalar(let type) = column.schema.kind
    else { return }
    let value = try value(column.schema.name, pair.plain, table)
    log.append("set \(column.schema.name) of \(key) to \(value.description.prefix(30))")
    let id = table.column(column.id)
    let _: Bool? = try pair.both { write -> Bool in
      if type.isWord { return try write.set(id, key, word: value.word) }
      return try value.withBytes(as: type) { bytes throws(StorageError) in try write.set(id, key, bytes: bytes) }
    }
  }

  private mutating func link(_ pair: ModelPair, _ table: TableEntry) throws {
    guard let owner = try anyKey(pair.plain, table), let target = try anyKey(pair.plain, table) else { return }
    log.append("\(owner) has \(target) in its list")
    try pair.both { try $0.edit(table.column(named: "others"), owner, .insert(at: 0, [.link(target)])) }
  }

  /// Takes the links to an object out, then the object.
  private mutating func delete(_ pair: ModelPair, _ table: TableEntry) throws {
    guard let key = try anyKey(pair.plain, table) else { return }
    log.append("delete \(key)")
    let (next, others) = (table.column(named: "next"), table.column(named: "others"))
    for source in try pair.plain.allSources(of: key, through: next) { try pair.both { _ = try $0.set(next, ObjectKey(source), word: nil) } }
    for source in Set(try pair.plain.allSources(of: key, through: others)).sorted().map({ ObjectKey($0) }) {
      let list = try pair.plain.values(others, source, 0..<Int.max)
      for position in list.indices.reversed() where list[position] == .link(key) {
        try pair.both { try $0.edit(others, source, .remove(position..<position + 1)) }
      }
    }
    try pair.both { try $0.delete(table.id, key) }
  }

  /// Mostly one of the newest.
  mutating func anyKey(_ read: any StorageReading, _ table: TableEntry) throws -> ObjectKey? {
    let keys = try read.allRows(table, []).map(\.key)
    return keys.suffix(random.oneIn(3) ? Int.max : 12).randomElement(using: &random).map { ObjectKey($0) }
  }

  /// Values of which some are there already.
  mutating func value(_ name: String, _ read: any StorageReading, _ table: TableEntry) throws -> Value {
    switch name {
    case "id": return .int(Int64(random.below(600)) - 50)
    case "name": return .string("name \(random.below(30))" + String(repeating: "!", count: random.oneIn(30) ? 1_200 : 0))
    case "rank": return random.oneIn(3) ? .null : .int(Int64(random.below(20)))
    case "group": return .int(Int64(random.below(6)))
    case "level": return .double([0, -0.0, 1.5, .nan, -3, 1e300][random.below(6)])
    case "code": return random.oneIn(3) ? .null : .string("c\(random.below(400))")
    case "day": return random.oneIn(3) ? .null : .date(TimestampSamples.any(&random))
    default:
      if random.oneIn(3) { return .null }
      guard let target = try anyKey(read, table) else { return .null }
      return .link(target)
    }
  }
}
