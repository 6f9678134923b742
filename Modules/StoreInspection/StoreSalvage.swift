import StorageInterface
import StoreValues

/// Copies the intact objects out of a damaged store.
///
/// An object is intact if each of its values can be read, and no other object in the new store has its key or one of its unique
/// values. Indexes are rebuilt. Links to lost objects become null, and are removed from collections.
public enum StoreSalvage {
  /// The outcome for one type.
  public struct Outcome: Sendable, Equatable {
    /// The name of the type.
    public var type: String
    /// Objects copied to the new store.
    public var saved = 0
    /// Objects that were found and could not be read completely.
    public var lost = 0
    /// The store's own count of the objects; nil if it cannot be read.
    public var counted: Int?
    /// Removed links, whose targets were lost or never existed.
    public var cutLinks = 0
    /// The first reasons, without duplicates.
    public var reasons: [String] = []

    mutating func note(_ error: StorageError) {
      if reasons.count < 5, !reasons.contains(error.message) { reasons.append(error.message) }
    }

    /// The number of missing objects, as far as is known.
    public var missing: Int { max(lost, (counted ?? 0) - saved) }

    /// Whether nothing is missing, as far as is known.
    public var isWhole: Bool { missing == 0 && cutLinks == 0 && reasons.isEmpty }

    /// The outcome for people: one line, and one for each reason. Characters that a terminal would interpret are escaped.
    public var text: String {
      var text = "\(type): \(saved) \(saved == 1 ? "object" : "objects") saved"
      if counted == nil { text += ", how many there were is not known" }
      if missing > 0 { text += ", \(missing) lost" }
      if cutLinks > 0 { text += ", \(cutLinks) \(cutLinks == 1 ? "link" : "links") to lost objects cut" }
      return ([text] + reasons.map { "  " + $0 }).map(DisplayText.escaped).joined(separator: "\n")
    }
  }

  /// Copies the intact objects into `target`, which must be empty, in one commit; calls `report` for each type when it is done.
  /// Does not copy the history. Throws if the catalog of `source` cannot be read, or `target` cannot be written. O(objects).
  @discardableResult
  public static func run(
    _ source: any StorageEngine, to target: any StorageEngine, _ report: (Outcome) -> Void = { _ in }
  ) throws(InspectionError) -> [Outcome] {
    do throws(StorageError) {
      let read = try source.beginRead()
      defer { read.end() }
      let write = try target.beginWrite(.never)
      defer { write.end() }
      guard write.catalog.tables.isEmpty else {
        throw StorageError(.misuse, .engine, "There is a store at the target already.", remedy: "Name a file that does not exist.")
      }
      var salvage = Salvage(read, try GraphWriter(write, read.catalog), write)
      for table in read.catalog.tables { try salvage.takeObjects(table) }
      for table in read.catalog.tables { report(try salvage.fill(table)) }
      _ = try write.commit(salvage.writer.record, .full)
      return salvage.outcomes
    } catch {
      throw InspectionError(error)
    }
  }
}

/// One salvage in progress.
private struct Salvage {
  private let read: any ReadTransaction
  private let write: any WriteTransaction
  private(set) var writer: GraphWriter
  private var keys: [TableID: [Int64]] = [:]
  private var saved: [TableID: Set<Int64>] = [:]
  private var found: [TableID: StoreSalvage.Outcome] = [:]

  init(_ read: any ReadTransaction, _ writer: GraphWriter, _ write: any WriteTransaction) {
    (self.read, self.writer, self.write) = (read, writer, write)
  }

  var outcomes: [StoreSalvage.Outcome] { read.catalog.tables.compactMap { found[$0.id] } }

  /// Inserts the intact objects, with their values except for links and collections.
  mutating func takeObjects(_ table: TableEntry) throws(StorageError) {
    var outcome = StoreSalvage.Outcome(type: table.name)
    do throws(StorageError) { outcome.counted = try read.count(table.id) } catch { outcome.note(error) }
    var whole: [Int64] = []
    for key in ReadableKeys.find(table, in: read, { outcome.note($0) }) {
      do throws(StorageError) {
        try readWhole(table, ObjectKey(key))
        try writer.insert(table, [key]) { (column, key) throws(StorageError) in try read.value(table.column(column.id), key) }
        whole.append(key)
      } catch {
        // Errors of the target itself end the salvage.
        guard error.scope == .statement || error.code == .corrupt else { throw error }
        outcome.lost += 1
        outcome.note(error)
      }
    }
    outcome.saved = whole.count
    (keys[table.id], saved[table.id], found[table.id]) = (whole, Set(whole), outcome)
  }

  private func readWhole(_ table: TableEntry, _ key: ObjectKey) throws(StorageError) {
    for column in table.columns where column.schema.isStored && !column.isRetired {
      _ = try GraphContent(table.column(column.id), column.schema, key, in: read)
    }
  }

  /// Sets links and collections of the objects of a type. All intact objects exist by now.
  mutating func fill(_ table: TableEntry) throws(StorageError) -> StoreSalvage.Outcome {
    var cut = 0
    let saved = saved
    try writer.fill(table, keys[table.id] ?? []) { (column, key) throws(StorageError) in
      if column.isRetired { return nil }
      let target = column.schema.target.flatMap { read.catalog[$0]?.id }
      let content = try GraphContent(table.column(column.id), column.schema, key, in: read)
      return content.keepingLinks(to: target, &cut) { saved[$0.table]?.contains($0.key.rawValue) == true }
    }
    found[table.id]?.cutLinks = cut
    return found[table.id] ?? StoreSalvage.Outcome(type: table.name)
  }
}
