import Storage
import Synchronization
import Values

/// What the engine keeps over versions: decoded catalogs, fences of indexes and chunk directories, each with the
/// commit that last changed it. No pointers into a snapshot.
final class StructureCache: Sendable {
  private struct State {
    var catalog: (version: UInt64, catalog: CatalogMap)?
    var fences: [IndexReference: IndexFences] = [:]
    var directories: [TableID: ChunkDirectory] = [:]
  }

  private let state = Mutex(State())

  /// The fences that the record says are current: kept ones, or read now. O(blocks) after a block came or went.
  func fences(
    _ index: IndexReference, _ record: IndexRecord, _ snapshot: any KeyValueSnapshot
  ) throws(StorageError) -> IndexFences {
    let kept = state.withLock { $0.fences[index] }
    if let kept, kept.version == record.fenceVersion { return kept }
    let made = try IndexFences(version: record.fenceVersion, snapshot: snapshot, index: index)
    state.withLock { state in
      if (state.fences[index]?.version ?? 0) <= made.version { state.fences[index] = made }
    }
    return made
  }

  /// Keeps the fences that a commit has made, so that nobody has to read them.
  func keep(_ fences: IndexFences, of index: IndexReference) {
    state.withLock { state in
      if (state.fences[index]?.version ?? 0) <= fences.version { state.fences[index] = fences }
    }
  }

  /// The numbers of a table's chunks, kept or read now.
  func directory(
    _ table: TableID, version: UInt64, _ snapshot: any KeyValueSnapshot
  ) throws(StorageError) -> ChunkDirectory {
    let kept = state.withLock { $0.directories[table] }
    if let kept, kept.version == version { return kept }
    let made = try ChunkDirectory(version: version, snapshot: snapshot, table: table)
    state.withLock { state in
      if (state.directories[table]?.version ?? 0) <= version { state.directories[table] = made }
    }
    return made
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
      try snapshot.visit(from: from, reverse: false) { key, _ in
        guard key.count == from.count + 8, key.prefix(from.count).elementsEqual(from) else { return .stop }
        numbers.append(Int64(bigEndian: key.loadUnaligned(fromByteOffset: from.count, as: Int64.self)))
        return .proceed
      }
    }
    self.version = version
    self.numbers = numbers
  }
}
