#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues
import VivariumTestSupport

/// A random history of a table with many chunks, written by two engines on one store, as two processes would, and read by both
/// in old and new versions, and by the writes themselves. They must show what an engine shows that was only just opened, and so
/// knows nothing of what was there before. The seed decides everything, where no other run plays on the same store.
public struct DecodingRun {
  private let open: () throws -> any StorageEngine
  private let writers: [any StorageEngine]
  private var random: SeededGenerator
  private let rows: Int
  private var keys: [Int64] = []
  private var added = 0
  /// Open snapshots, each with all that it showed when it was begun.
  private var readers: [(read: any ReadTransaction, rows: [[Value]])] = []
  private var log: [String] = []

  /// A run over a table of about `rows` objects, which other runs may play on as well. `open` gives another engine on the same
  /// store each time.
  public init(_ random: SeededGenerator, rows: Int, open: @escaping () throws -> any StorageEngine) throws {
    (self.random, self.rows, self.open) = (random, rows, open)
    writers = [try open(), try open()]
    if try writers[0].latestVersion() == Version(0) { try writers[0].adopt(DecodingRun.schema(added: 0)) }
  }

  private static func schema(added: Int) -> Schema {
    let more = (0..<added).map { i -> PropertySchema in
      if i % 2 == 0 { return .scalar("more\(i)", .int64, default: .int(Int64(i))) }
      return .scalar("more\(i)", .string, default: .string("more \(i)"))
    }
    let task: [PropertySchema] = [
      .scalar("rank", .int64, indexed: true), .scalar("level", .double, optional: true), .scalar("done", .bool),
      .scalar("small", .int16), .scalar("title", .string), .scalar("note", .data, optional: true), .list("marks", of: .int64),
    ]
    return Schema([ObjectSchema(name: "Task", properties: task + more)])
  }

  /// Plays so many commits. Throws what differs, with the last steps.
  public mutating func play(_ commits: Int) throws {
    do {
      for _ in 0..<commits {
        try commit()
        try compare()
      }
      for reader in readers {
        try expect(try shown(reader.read) == reader.rows, "a snapshot of \(reader.read.version) has changed")
        reader.read.end()
      }
    } catch {
      throw ConformanceFailure("seed \(random.seed): \(error)\nlast steps:\n  " + log.suffix(30).joined(separator: "\n  "))
    }
  }

  // MARK: Writing

  private mutating func commit() throws {
    let engine = writers[random.below(2)]
    if random.oneIn(12) {
      // Some are new, and now and then all go.
      added = random.oneIn(4) ? 0 : added + 1
      log.append("has \(added) more properties")
      try engine.adopt(DecodingRun.schema(added: added))
      return
    }
    let write = try engine.beginWrite(.after(.seconds(600)))
    defer { write.end() }
    guard var table = write.catalog["Task"] else { throw ConformanceFailure("there is no table") }
    keys = try write.allRows(table, ["rank"]).map(\.key)
    if random.oneIn(3) {
      let rows = try cold(write.version) { try shown($0) }
      try expect(try shown(write) == rows, "a write shows something else in \(write.version)")
    }
    let before = keys
    var named: [Int64: PropertySet] = [:]
    let isUndone = random.oneIn(4)
    if isUndone { try write.beginSavepoint() }
    for _ in 0..<(random.oneIn(8) ? 40 : 3) { try change(write, table, &named) }
    if isUndone {
      if random.oneIn(2) { _ = try shown(write) }
      try write.rollbackToSavepoint()
      keys = before
      if random.oneIn(2) { try change(write, table, &named) }
    }
    let hasCatalog = random.oneIn(10)
    if hasCatalog {
      added += 1
      log.append("has \(added) more properties in the same write")
      try write.setCatalog(try write.catalog.adopting(DecodingRun.schema(added: added)).catalog)
      table = write.catalog["Task"] ?? table
      try change(write, table, &named)
    }
    let own = random.oneIn(3) ? try shown(write) : nil
    if random.oneIn(8) {
      log.append("ends without a commit")
      return
    }
    // What a record does not name is written all the same.
    let changes = DecodingRun.changes(table, named, before: before, keys)
    var record = random.oneIn(3) || changes.isEmpty ? CommitRecord() : CommitRecord(tables: [changes])
    record.changedCatalog = hasCatalog && random.oneIn(2)
    log.append("\(isUndone ? "undoes, then " : "")commits, \(record.changeCount) named, \(keys.count) objects")
    let version = try write.commit(record, .relaxed)
    guard let own else { return }
    let committed = try cold(version) { try shown($0) }
    try expect(committed == nil || committed == own, "\(version) is not what its write has shown")
  }

  private static func changes(_ table: TableEntry, _ named: [Int64: PropertySet], before: [Int64], _ keys: [Int64]) -> TableChange {
    let (before, after) = (Set(before), Set(keys))
    let kept = named.sorted { $0.key < $1.key }.filter { before.contains($0.key) && after.contains($0.key) }
    return TableChange(
      table: table.id, inserted: KeyRuns(after.subtracting(before)), deleted: KeyRuns(before.subtracting(after)),
      modified: kept.map { ModifiedObject(key: ObjectKey($0.key), properties: $0.value) })
  }

  private mutating func change(_ write: any WriteTransaction, _ table: TableEntry, _ named: inout [Int64: PropertySet]) throws {
    switch random.below(8) {
    case 0, 1:
      let count = keys.count < rows ? rows / 3 : random.below(200)
      log.append("inserts \(count)")
      for _ in 0..<count { keys.append(try write.insert(table, row()).rawValue) }
    case 2:
      // A few, or a run that empties chunks.
      let count = min(keys.count, random.oneIn(4) ? rows / 5 : 3)
      let start = random.below(keys.count - count + 1)
      log.append("deletes \(count) from \(start) on")
      for key in keys[start..<start + count] { try write.delete(table.id, ObjectKey(key)) }
      keys.removeSubrange(start..<start + count)
    case 3:
      guard let key = keys.randomElement(using: &random) else { return }
      // There and back: the chunk is written, and nothing was changed.
      let column = table.column(named: "rank")
      let old = try write.word(column, ObjectKey(key))
      log.append("sets \(key) there and back")
      try write.set(column, ObjectKey(key), word: -1)
      try write.set(column, ObjectKey(key), word: old)
    default:
      for _ in 0..<(random.oneIn(3) ? 60 : 2) {
        guard let key = keys.randomElement(using: &random) else { return }
        try set(write, table, ObjectKey(key), &named[key, default: PropertySet()])
      }
    }
  }

  private mutating func set(_ write: any WriteTransaction, _ table: TableEntry, _ key: ObjectKey, _ named: inout PropertySet) throws {
    let values = row()
    guard let name = values.keys.sorted().randomElement(using: &random), let value = values[name] else { return }
    log.append("sets \(name) of \(key.rawValue)")
    if random.oneIn(6) {
      named.insert(table.id("marks"))
      return try write.edit(table.column(named: "marks"), key, .insert(at: 0, [.int(Int64(random.below(9)))]))
    }
    named.insert(table.id(name))
    let column = table.column(named: name)
    if let word = value.word {
      try write.set(column, key, word: word)
    } else if value.isNull, name == "level" {
      try write.set(column, key, word: nil)
    } else {
      try value.withBytes { bytes throws(StorageError) in _ = try write.set(column, key, bytes: bytes) }
    }
  }

  private mutating func row() -> [String: Value] {
    let note: Value = random.oneIn(2) ? .null : .data(Data(repeating: 7, count: random.oneIn(20) ? 1_500 : 3))
    return [
      "rank": .int(Int64(random.below(random.oneIn(9) ? 1 << 40 : 100))), "done": .bool(random.oneIn(2)),
      "level": random.oneIn(4) ? .null : .double(Double(random.below(1_000))), "small": .int(Int64(random.below(200))),
      "title": .string("title \(random.below(1 << 30)) and more of it"), "note": note,
    ]
  }

  // MARK: Comparing

  private mutating func compare() throws {
    for writer in writers where !random.oneIn(3) {
      let warm = try writer.beginRead()
      let rows = try shown(warm)
      if let expected = try cold(warm.version, { try shown($0) }) {
        try expect(rows == expected, "an engine shows something else in \(warm.version)")
      }
      if random.oneIn(3) { readers.append((warm, rows)) } else { warm.end() }
    }
    if !readers.isEmpty, random.oneIn(3) {
      let reader = readers[random.below(readers.count)]
      try expect(try shown(reader.read) == reader.rows, "a snapshot of \(reader.read.version) has changed")
    }
    while readers.count > 4 { readers.remove(at: random.below(readers.count)).read.end() }
  }

  /// What an engine shows that knows nothing; nil where another run has made a newer version.
  private func cold<R>(_ version: Version, _ body: (any ReadTransaction) throws -> R) throws -> R? {
    let read = try open().beginRead()
    defer { read.end() }
    return read.version == version ? try body(read) : nil
  }

  /// All rows, read in the ways there are: numbers alone, with texts, and many keys at once.
  private func shown(_ read: any StorageReading) throws -> [[Value]] {
    guard let table = read.catalog["Task"] else { return [] }
    let names = table.columns.filter { $0.schema.isScalar }.map(\.schema.name)
    let numbers = ["rank", "level", "done", "small"]
    let rows = try read.allRows(table, names)
    let counted = try read.allRows(table, numbers)
    try expect(rows.map(\.0) == counted.map(\.0), "scans give different keys")
    let keys = rows.map(\.0)
    for (i, name) in numbers.enumerated() {
      let (words, nulls) = try gathered(read, table.column(named: name), keys)
      for row in keys.indices {
        let value = counted[row].1[i]
        try expect(nulls[row] ? value.isNull : value.word == words[row], "\(name) of \(keys[row]) differs by the way it is read")
      }
    }
    for row in stride(from: 0, to: keys.count, by: 37) {
      try expect(try read.word(table.column(named: "rank"), ObjectKey(keys[row])) == counted[row].1[0].word, "a single word differs")
    }
    return zip(rows, counted).map { [.int($0.0)] + $0.1 + $1.1 }
  }

  private func gathered(_ read: any StorageReading, _ column: ColumnID, _ keys: [Int64]) throws -> ([Int64], [Bool]) {
    var words = [Int64](repeating: 0, count: keys.count)
    var nulls = [Bool](repeating: false, count: keys.count)
    guard let gathering = read.powers.gathering else { return (words, nulls) }
    try keys.withUnsafeBufferPointer { keys in
      try words.withUnsafeMutableBufferPointer { words in
        try nulls.withUnsafeMutableBufferPointer { nulls in
          guard let to = words.baseAddress, let toNulls = nulls.baseAddress else { return }
          try gathering.words(column, of: keys, into: to, nulls: toNulls)
        }
      }
    }
    return (words, nulls)
  }
}
