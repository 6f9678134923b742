import Storage
import Values

/// A store that carries numbered transactions, each of several objects, an index, a list and its commit record, made
/// so that a torn or half-lost one is noticed.
public final class Ledger {
  /// A transaction that is there in part, or missing though acknowledged.
  public struct Damage: Error, CustomStringConvertible {
    public let description: String
  }

  private static let schema = Schema([
    ObjectSchema(
      "Entry", .scalar("number", .int64, indexed: true), .scalar("text", .string), .list("parts", of: .int64)),
    ObjectSchema("Total", .scalar("last", .int64)),
  ])
  private static let entriesEach = 3

  private let engine: any StorageEngine
  private let entry: TableEntry
  private let total: TableEntry

  /// Prepares the store where that has not happened.
  public init(_ engine: any StorageEngine) throws {
    self.engine = engine
    var catalog = try Ledger.catalog(of: engine)
    if catalog["Entry"] == nil {
      try engine.write(.full, record: CommitRecord(changedCatalog: true)) { transaction in
        catalog = try transaction.catalog.adopting(Ledger.schema).catalog
        try transaction.setCatalog(catalog)
      }
    }
    guard let entry = catalog["Entry"], let total = catalog["Total"] else { throw Damage(description: "no catalog") }
    self.entry = entry
    self.total = total
  }

  private static func catalog(of engine: any StorageEngine) throws -> Catalog {
    let read = try engine.beginRead()
    defer { read.end() }
    return read.catalog
  }

  /// Commits the next transaction durably and returns its number.
  public func commitNext() throws -> Int64 {
    let write = try engine.beginWrite(.after(.seconds(30)))
    defer { write.end() }
    let number = try last(in: write) + 1
    for part in 0..<Ledger.entriesEach {
      let text = String(repeating: "\(number).\(part) ", count: 40)
      let key = try write.insert(entry, ["number": .int(number), "text": .string(text)])
      try write.edit(
        entry.column(named: "parts"), key, .insert(at: 0, (0..<20).map { .int(number * 100 + Int64($0)) }))
    }
    if number == 1 {
      try write.insert(total, ["last": .int(number)])
    } else {
      try write.set(total.column(named: "last"), ObjectKey(1), word: number)
    }
    // One older entry goes, so that deletes are part of each transaction too.
    if number > 3, let old = try write.key(in: entry.index("number"), equal: [.int(number - 3)]) {
      try write.delete(entry.id, old)
    }
    _ = try write.commit(CommitRecord(author: "\(number)"), .full)
    return number
  }

  private func last(in reading: any StorageReading) throws -> Int64 {
    try reading.count(total.id) == 0 ? 0 : reading.word(total.column(named: "last"), ObjectKey(1)) ?? 0
  }

  /// Throws `Damage` unless every transaction up to the last is whole and the acknowledged ones are there; returns the
  /// last number.
  @discardableResult
  public func check(acknowledged: Int64?) throws -> Int64 {
    let read = try engine.beginRead()
    defer { read.end() }
    let last = try last(in: read)
    if let acknowledged, last < acknowledged {
      throw Damage(description: "transaction \(acknowledged) was acknowledged, and the last is \(last)")
    }
    var found: [Int64: Int] = [:]
    var wrong: [String] = []
    var keys: [ObjectKey] = []
    try read.scan(entry.id, [entry.id("number")], from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        found[batch.columns[0].word(at: row), default: 0] += 1
        keys.append(batch.key(at: row))
      }
      return .proceed
    }
    for number in 1...max(last, 1) where last > 0 {
      let expected = number <= last - 3 ? Ledger.entriesEach - 1 : Ledger.entriesEach
      let indexed = try read.count(in: entry.index("number"), IndexRange(equal: [.int(number)]))
      if found[number] != expected || indexed != expected {
        wrong.append("transaction \(number): \(found[number] ?? 0) entries, \(indexed) in the index, not \(expected)")
      }
    }
    if let beyond = found.keys.max(), beyond > last { wrong.append("entries of \(beyond), and the last is \(last)") }
    for key in keys { try checkEntry(key, read, &wrong) }
    try checkHistory(read, last, &wrong)
    if !wrong.isEmpty { throw Damage(description: wrong.prefix(5).joined(separator: "; ")) }
    return last
  }

  private func checkEntry(_ key: ObjectKey, _ read: any ReadTransaction, _ wrong: inout [String]) throws {
    let number = try read.word(entry.column(named: "number"), key) ?? -1
    let parts = try read.values(entry.column(named: "parts"), key, 0..<99)
    if parts != (0..<20).map({ .int(number * 100 + $0) }) { wrong.append("the list of \(key) is not \(number)'s") }
    guard case .string(let text) = try read.value(entry.column(named: "text"), key), text.hasPrefix("\(number).") else {
      return wrong.append("the text of \(key) is not \(number)'s")
    }
  }

  private func checkHistory(_ read: any ReadTransaction, _ last: Int64, _ wrong: inout [String]) throws {
    guard last > 0 else { return }
    var author: String?
    try read.history(after: Version(read.version.rawValue - 1)) { record in
      author = record.author
      return .proceed
    }
    if author != "\(last)" { wrong.append("the newest commit record is of \(author ?? "nobody"), not of \(last)") }
  }
}
