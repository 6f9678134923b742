import ColumnStore
import StorageCoordination
import StorageInterface

/// Stores in a file with LMDB: the fastest backend, for any number of reading and writing processes on one machine.
///
/// A store is the file at `location` with its side files (`-lock`, `.coord`, `.bell`, `.safe`). Not for network file
/// systems.
public struct LMDBBackend: StorageBackend {
  /// The engines of this process, by file. A read-only engine and a writing one of the same file are separate.
  private static let writing = OpenFiles<ColumnEngine>()
  private static let reading = OpenFiles<ColumnEngine>()

  public let kind = "lmdb"
  public var isFile: Bool { true }
  public let location: String

  /// The store at a path. Touches nothing before `open`.
  public init(path: String) { location = path }

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    try LMDBFiles(existing: location)?.refuseOtherNames()
    let files = options.isReadOnly ? LMDBBackend.reading : LMDBBackend.writing
    while true {
      let engine = try files.engine(at: location) { () throws(StorageError) in
        let store = try LMDBStore(
          path: location, isReadOnly: options.isReadOnly, createsIfMissing: options.createsIfMissing, isPrivate: options.isPrivate)
        do throws(StorageError) {
          return try ColumnEngine(store, options)
        } catch {
          let files = store.madeFiles
          store.close()
          files?.removeIfUnused()
          throw error
        }
      }
      if !engine.isClosed { return engine }
      files.forget(engine)
    }
  }

  public func isPresent() -> Bool {
    guard let files = LMDBFiles(existing: location), let header = try? LMDBHeader(path: files.data) else { return false }
    return header.kind != .foreign && header.kind != .empty
  }

  public func remove() throws(StorageError) {
    guard let files = LMDBFiles(existing: location) else { return }
    try LMDBHeader(path: files.data).check(path: files.data)
    do throws(StorageError) {
      try files.removeIfAbsent()
    } catch where error.code == .alreadyOpen {
      // Perhaps only the background of this process still has it open.
      LMDBEnvironment.waitForBackground()
      try files.removeIfAbsent()
    }
  }
}
