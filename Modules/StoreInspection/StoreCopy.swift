#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// Copies the whole graph of a store to another one, of any backend.
public enum StoreCopy {
  /// Copies the newest version of `source` into `target`, which must be empty: every object under its key, lists in order, indexes,
  /// schema, and the kept history. So the version number stays the same, and an observer at an earlier version is notified of the
  /// same changes. All data is in one commit.
  public static func copy(_ source: any StorageEngine, to target: any StorageEngine) throws(InspectionError) {
    do throws(StorageError) {
      let read = try source.beginRead()
      defer { read.end() }
      var records = try kept(read)
      let start = try checkEmpty(target)
      if try copyAtOnce(read, records, to: target) { return }
      // The data is committed with the oldest record, or with the last version if there is none.
      let first = max(start.rawValue + 1, (records.first?.version ?? read.version).rawValue)
      records.removeAll { $0.version.rawValue < first }
      var version = start.rawValue
      while version + 1 < first { version = try commit(CommitRecord(origin: 0), .relaxed, target) }
      let write = try target.beginWrite(.never)
      defer { write.end() }
      let made = try fill(write, from: read)
      var record = made
      if let oldest = records.first, oldest.version.rawValue == first {
        record = oldest
        records.removeFirst()
      }
      record.changedCatalog = true
      version = try write.commit(record, .full).rawValue
      for record in records where version < read.version.rawValue { version = try commit(record, .relaxed, target) }
      while version < read.version.rawValue { version = try commit(CommitRecord(origin: 0), .relaxed, target) }
    } catch {
      throw InspectionError(error)
    }
  }

  /// Copies in one commit if the target can do so; otherwise does nothing and returns false.
  private static func copyAtOnce(
    _ read: any ReadTransaction, _ records: [CommitRecord], to target: any StorageEngine
  ) throws(StorageError) -> Bool {
    let write = try target.beginWrite(.never)
    defer { write.end() }
    guard read.version > write.version, let adopting = write.writePowers.history else { return false }
    let made = try fill(write, from: read)
    var records = records
    if records.isEmpty {
      records = [made]
      records[0].version = read.version
    }
    // The data and its catalog belong to the commit of the oldest record.
    records[0].changedCatalog = true
    _ = try adopting.commit(adopting: records, .full)
    return true
  }

  /// Every record that the source keeps, oldest first.
  private static func kept(_ read: any ReadTransaction) throws(StorageError) -> [CommitRecord] {
    var records: [CommitRecord] = []
    try read.history(after: try read.versionBeforeHistory()) { record in
      records.append(record)
      return .proceed
    }
    return records
  }

  private static func checkEmpty(_ target: any StorageEngine) throws(StorageError) -> Version {
    let read = try target.beginRead()
    defer { read.end() }
    guard read.catalog.tables.isEmpty else {
      throw StorageError(.misuse, .engine, "There is a store at the target already.", remedy: "Name a file that does not exist.")
    }
    return read.version
  }

  private static func commit(
    _ record: CommitRecord, _ durability: Durability, _ target: any StorageEngine
  ) throws(StorageError) -> UInt64 {
    let write = try target.beginWrite(.never)
    defer { write.end() }
    return try write.commit(record, durability).rawValue
  }

  private static func fill(_ write: any WriteTransaction, from read: any ReadTransaction) throws(StorageError) -> CommitRecord {
    let reader = GraphReader(read)
    var writer = try GraphWriter(write, read.catalog)
    var keys: [TableID: [Int64]] = [:]
    for table in reader.tables {
      let all = try reader.keys(of: table.id)
      keys[table.id] = all
      try writer.insert(table, all) { (column, key) throws(StorageError) in try read.value(table.column(column.id), key) }
    }
    for table in reader.tables {
      try writer.fill(table, keys[table.id] ?? []) { (column, key) throws(StorageError) in
        try GraphContent(table.column(column.id), column.schema, key, in: read)
      }
    }
    return writer.record
  }
}
