import StorageInterface
import StoreValues
import Synchronization

/// The engine's cache across versions: decoded catalogs, fences of indexes and chunk directories, each with the commit that
/// last changed it. Holds no pointers into a snapshot.
final class StructureCache: Sendable {
  /// Arrays, not dictionaries: for the first dictionary with a new key type, the runtime searches all libraries of the process
  /// for its conformance, a good part of the cost of opening a store.
  private struct State {
    var catalog: (version: UInt64, catalog: CatalogMap)?
    private var fences: [(index: IndexReference, fences: IndexFences)] = []
    private var tables: [(directory: ChunkDirectory?, freshRows: CarriedRows?)] = []

    func fences(_ index: IndexReference) -> IndexFences? { fences.first { $0.index == index }?.fences }

    mutating func keep(_ new: IndexFences, of index: IndexReference) {
      if let i = fences.firstIndex(where: { $0.index == index }) {
        if fences[i].fences.version <= new.version { fences[i].fences = new }
      } else {
        fences.append((index, new))
      }
    }

    func directory(_ table: TableID) -> ChunkDirectory? {
      let i = Int(table.rawValue)
      return i < tables.count ? tables[i].directory : nil
    }

    mutating func keep(_ new: ChunkDirectory, of table: TableID) {
      let i = place(of: table)
      if (tables[i].directory?.version ?? 0) <= new.version { tables[i].directory = new }
    }

    mutating func leave(_ rows: CarriedRows) { tables[place(of: rows.table)].freshRows = rows }

    mutating func takeFreshRows(_ table: TableID) -> CarriedRows? {
      let i = Int(table.rawValue)
      guard i < tables.count else { return nil }
      defer { tables[i].freshRows = nil }
      return tables[i].freshRows
    }

    private mutating func place(of table: TableID) -> Int {
      while tables.count <= Int(table.rawValue) { tables.append((nil, nil)) }
      return Int(table.rawValue)
    }
  }

  private let state = Mutex(State())

  /// The fences that are current by the record: cached ones, or read now. O(blocks) after a block was added or removed.
  func fences(
    _ index: IndexReference, _ record: IndexRecord, _ snapshot: any KeyValueSnapshot
  ) throws(StorageError) -> IndexFences {
    let kept = state.withLock { $0.fences(index) }
    if let kept, kept.version == record.fenceVersion { return kept }
    let made = try IndexFences(version: record.fenceVersion, snapshot: snapshot, index: index)
    state.withLock { $0.keep(made, of: index) }
    return made
  }

  /// Caches the fences that a commit has made, so that nobody must read them.
  func keep(_ fences: IndexFences, of index: IndexReference) { state.withLock { $0.keep(fences, of: index) } }

  /// The numbers of a table's chunks, cached or read now.
  func directory(
    _ table: TableID, version: UInt64, _ snapshot: any KeyValueSnapshot
  ) throws(StorageError) -> ChunkDirectory {
    let kept = state.withLock { $0.directory(table) }
    if let kept, kept.version == version { return kept }
    let made = try ChunkDirectory(version: version, snapshot: snapshot, table: table)
    state.withLock { $0.keep(made, of: table) }
    return made
  }

  /// Caches the fresh rows that a write has left.
  func leave(_ rows: CarriedRows) { state.withLock { $0.leave(rows) } }

  /// Hands the fresh rows to a write that begins from the very version that left them. Nobody else gets them again.
  func takeFreshRows(_ table: TableID, version: Version) -> CarriedRows? {
    let left = state.withLock { $0.takeFreshRows(table) }
    return left?.version == version ? left : nil
  }

  func catalog(
    version: UInt64, _ make: () throws(StorageError) -> CatalogMap
  ) throws(StorageError) -> CatalogMap {
    let kept = state.withLock { $0.catalog }
    if let kept, kept.version == version { return kept.catalog }
    let made = try make()
    state.withLock { state in
      if (state.catalog?.version ?? 0) <= version { state.catalog = (version, made) }
    }
    return made
  }
}

/// The numbers of all chunks of a table, ascending.
final class ChunkDirectory: Sendable {
  let version: UInt64
  let numbers: [Int64]

  init(version: UInt64, snapshot: any KeyValueSnapshot, table: TableID) throws(StorageError) {
    var numbers: [Int64] = []
    let prefix = EntryKey.table(.chunkMap, table).bytes
    try prefix.lend { from throws(StorageError) in
      try snapshot.visitKeys(within: from) { key in
        guard key.count == from.count + 8 else { return .stop }
        numbers.append(Int64(bigEndian: key.loadUnaligned(fromByteOffset: from.count, as: Int64.self)))
        return .proceed
      }
    }
    self.version = version
    self.numbers = numbers
  }
}
