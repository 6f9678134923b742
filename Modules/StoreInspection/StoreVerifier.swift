import StorageInterface
import StoreValues

/// Compares the redundant parts of a version with each other. Works on every engine; what lies below the storage interface, the
/// engine verifies itself.
final class StoreVerifier {
  /// The amount of verified data, and the faults found.
  struct Report {
    var faults: [StoreFault] = []
    var objectCount = 0
    var indexCount = 0
    var linkCount = 0
  }

  let read: any ReadTransaction
  var report = Report()
  /// The keys of each table, ascending.
  private var keys: [TableID: [Int64]] = [:]

  /// Called for each fault when it is found.
  private let say: (StoreFault) -> Void

  private init(_ read: any ReadTransaction, _ say: @escaping (StoreFault) -> Void) { (self.read, self.say) = (read, say) }

  /// Verifies a version, including the engine's own check if it has one. Calls `say` for each fault when it is found.
  static func verify(
    _ engine: any StorageEngine, _ read: any ReadTransaction, _ say: @escaping (StoreFault) -> Void = { _ in }
  ) throws(InspectionError) -> Report {
    let verifier = StoreVerifier(read, say)
    if let structure = engine.powers.structure {
      do throws(StorageError) {
        try structure.verifyStructure(read) { verifier.take($0) }
      } catch {
        // If verification breaks off, the faults found so far are the result.
        if error.code == .corrupt, !verifier.report.faults.isEmpty {
          verifier.fault("the store", error.message)
          return verifier.report
        }
        throw InspectionError(error)
      }
    }
    for table in read.catalog.tables { verifier.verifyObjects(table) }
    for table in read.catalog.tables {
      for index in table.indexes { verifier.verifyIndex(index, table) }
      for index in table.textIndexes { verifier.verifyTexts(index, table) }
      // Retired columns are invisible, and may still be in a format of older builds.
      for column in table.columns where column.schema.isStored && !column.isRetired { verifier.verifyColumn(column, table) }
    }
    verifier.verifyHistory()
    return verifier.report
  }

  func fault(_ place: String, _ message: String) { take(StoreFault(place, message)) }

  private func take(_ fault: StoreFault) {
    report.faults.append(fault)
    say(fault)
  }

  /// Runs a part of the work. Reports a read error as a fault.
  func trying(_ place: String, _ body: () throws(StorageError) -> Void) {
    do throws(StorageError) { try body() } catch { fault(place, error.message) }
  }

  func keys(of table: TableID) -> [Int64] { keys[table] ?? [] }

  func lives(_ table: TableID, _ key: Int64) -> Bool {
    guard let keys = keys[table] else { return false }
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < keys.count && keys[low] == key
  }

  // MARK: Objects

  private func verifyObjects(_ table: TableEntry) {
    var found: [Int64] = []
    var isAscending = true
    trying(table.name) { () throws(StorageError) in
      try read.scan(table.id, [], from: ObjectKey(0), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) {
          let key = batch.key(at: row).rawValue
          if let last = found.last, last >= key { isAscending = false }
          found.append(key)
        }
        return .proceed
      }
      if !isAscending {
        fault(table.name, "has keys out of order")
        found.sort()
      }
      let count = try read.count(table.id)
      if count != found.count { fault(table.name, "counts \(count) objects, and has \(found.count)") }
    }
    keys[table.id] = found
    report.objectCount += found.count
  }

  private func verifyHistory() {
    trying("history") { () throws(StorageError) in
      guard read.version.rawValue > 0 else { return }
      var version: UInt64?
      // From the oldest kept record.
      try read.history(after: try read.versionBeforeHistory()) { record in
        if let version, record.version.rawValue != version &+ 1 {
          fault("history", "version \(record.version.rawValue) follows version \(version)")
        }
        version = record.version.rawValue
        for change in record.tables where read.catalog[change.table] == nil {
          fault("history", "version \(record.version.rawValue) changes table \(change.table.rawValue), which is unknown")
        }
        return .proceed
      }
      if let version, version != read.version.rawValue {
        fault("history", "ends at version \(version), and the store is at \(read.version.rawValue)")
      }
    }
  }
}
