import ColumnStore
import StorageInterface
import StorageLMDB
import Synchronization
import VivariumTestSupport

/// LMDB with little address space, as on a small device.
struct SmallMapBackend: StorageBackend {
  let kind = "lmdb"
  let location: String
  var isFile: Bool { true }

  func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    try ColumnEngine(LMDBStore(path: location, mapSize: 1 << 20, mapSizeMax: 1 << 20), options)
  }

  func isPresent() -> Bool { LMDBBackend(path: location).isPresent() }
  func remove() throws(StorageError) { try LMDBBackend(path: location).remove() }
}

/// An engine that has no place for another reader from its first commit on.
struct CrowdedBackend: StorageBackend {
  let base: any StorageBackend
  var kind: String { base.kind }
  var location: String { base.location }
  var isFile: Bool { base.isFile }

  func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine { CrowdedEngine(base: try base.open(options)) }
  func isPresent() -> Bool { base.isPresent() }
  func remove() throws(StorageError) { try base.remove() }
}

private final class CrowdedEngine: EngineInFront {
  let base: any StorageEngine
  private let isFull = Mutex(false)

  init(base: any StorageEngine) { self.base = base }

  func beginRead() throws(StorageError) -> any ReadTransaction {
    if isFull.withLock({ $0 }) { throw StorageError(.tooManyReaders, .statement, "All places are taken.", remedy: "End a read.") }
    return try base.beginRead()
  }

  func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    let write = try base.beginWrite(deadline)
    if write.catalog["Pet"] != nil { isFull.withLock { $0 = true } }
    return write
  }
}
