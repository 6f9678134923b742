import StorageInterface
import StoreValues

/// Verifies every entry of a column store: that it has an owner, that its bytes follow the format, and that related entries
/// agree.
final class ColumnVerifier {
  let reading: ColumnRead
  private let report: (StoreFault) -> Void
  /// Faults already reported: a damaged chunk would be found once per column.
  private var reported: Set<StoreFault> = []

  init(_ reading: ColumnRead, _ report: @escaping (StoreFault) -> Void) {
    self.reading = reading
    self.report = report
  }

  func run() {
    // An error that stops the walk is a fault; the tables' own checks reach what lies behind it.
    trying("entries") { () throws(StorageError) in try verifyEntries() }
    for entry in reading.catalog.tables { verifyTable(entry) }
  }

  func fault(_ place: String, _ message: String) {
    let fault = StoreFault(place, message)
    if reported.insert(fault).inserted { report(fault) }
  }

  /// Runs part of the verification; an error is reported as a fault.
  func trying(_ place: @autoclosure () -> String, _ body: () throws(StorageError) -> Void) {
    do throws(StorageError) { try body() } catch { fault(place(), error.message) }
  }

  // MARK: Every entry

  private func verifyEntries() throws(StorageError) {
    let end = reading.version.rawValue
    var lastVersion: UInt64?
    try [UInt8]([1]).lend { start throws(StorageError) in
      try reading.snapshot.visit(from: start, sharing: 0, reverse: false) { key, value in
        guard let entry = EntryName(key) else {
          fault("entry \(EntryName.text(key))", "has a key that the format does not know")
          return .proceed
        }
        if case .history(let version) = entry {
          if let lastVersion, version != lastVersion &+ 1 {
            fault("history", "version \(version) follows version \(lastVersion)")
          }
          if version > end { fault("history", "has version \(version), and the store is at \(end)") }
          lastVersion = version
          trying("commit record of version \(version)") { () throws(StorageError) in
            _ = try CommitRecord(version: Version(version), encoded: value)
          }
        } else {
          verifyOwner(entry)
        }
        return .proceed
      }
    }
    if let lastVersion, lastVersion < end { fault("history", "ends at version \(lastVersion), and the store is at \(end)") }
  }

  /// Verifies that the catalog and its table know the entry's owner.
  private func verifyOwner(_ entry: EntryName) {
    switch entry {
    case .header, .catalog, .history: return
    case .side:
      if !reading.catalog.hasSideEntries { fault("side entries", "are there, and the catalog does not know of any") }
    case .table(let id):
      if reading.catalog[id] == nil { fault("table \(id.rawValue)", "has entries, and the catalog does not know it") }
    case .index(let reference):
      if !isKnown(reference) { fault("index \(reference)", "has blocks, and the catalog does not know it") }
    case .chunkMap(let id, let number):
      guard let table = openTable(id) else { return }
      trying("chunk \(number) of \(table.entry.name)") { () throws(StorageError) in
        _ = try reading.chunk(table, number: number)
        if let fresh = table.fresh, number >= fresh.number, table.firstKey(of: number) >= fresh.firstKey {
          throw .corrupt("it lies above the fresh rows")
        }
      }
    case .column(let id, let property, let number):
      guard let table = openTable(id) else { return }
      guard let slot = table.slot(property), table.shapes[slot].form != .none else {
        return fault("\(table.entry.name)", "has chunk columns of property \(property.rawValue), which is not stored")
      }
      let place = "chunk \(number) of \(table.entry.name).\(table.shapes[slot].name)"
      trying(place) { () throws(StorageError) in
        guard let chunk = try reading.chunk(table, number: number) else {
          throw .corrupt("the column's chunk is not there")
        }
        try verifyColumn(table, chunk, slot, place)
      }
    case .value(let id, let property, let owner):
      guard let table = openTable(id) else { return }
      guard let slot = table.slot(property) else {
        return fault(table.entry.name, "has values of property \(property.rawValue), which it has not")
      }
      let place = "\(table.entry.name) #\(owner)"
      trying(place) { () throws(StorageError) in
        guard let chunk = try reading.chunk(table, owner), let position = chunk.position(of: owner) else {
          return fault(place, "has entries of its '\(table.shapes[slot].name)', and the object is not there")
        }
        if !table.shapes[slot].isCollection {
          try reading.load(table, chunk, slot)
          if !chunk.isExternal(slot, position) {
            fault(place, "has a long value of '\(table.shapes[slot].name)' that its row does not name")
          }
        }
      }
    }
  }

  private func isKnown(_ reference: IndexReference) -> Bool {
    switch reference {
    case .index(let id): reading.map.table(of: id) != nil
    case .backlinks(let column): reading.catalog[column]?.schema.valueType?.mayLink ?? false
    }
  }

  /// The table, or nil if the failure to open it was reported.
  func openTable(_ id: TableID) -> TableState? {
    guard let entry = reading.catalog[id] else {
      fault("table \(id.rawValue)", "has entries, and the catalog does not know it")
      return nil
    }
    var table: TableState?
    trying(entry.name) { () throws(StorageError) in table = try reading.table(id) }
    return table
  }
}
