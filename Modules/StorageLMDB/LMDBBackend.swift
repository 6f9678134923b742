import ColumnStore
import StorageCoordination
import StorageInterface

/// Stores in a file with LMDB: the fastest backend, for any number of reading and writing processes on one machine.
///
/// A store is the file at `location` with its side files (`-lock`, `.coord`, `.bell`, `.safe`). Not for network file
/// systems. With a key its entries are encrypted.
public struct LMDBBackend: StorageBackend {
  /// The engines of this process, by file. A read-only engine and a writing one of the same file are separate.
  private static let writing = OpenFiles<ColumnEngine>()
  private static let reading = OpenFiles<ColumnEngine>()

  public let kind = "lmdb"
  public var isFile: Bool { true }
  public let location: String

  /// The encryption key; nil: the file is not encrypted.
  public let key: (any StoreKey)?

  /// Whether small `.full` commits that come in a row wait for the disk once, for a record in a journal, and reach the data file in the
  /// background (Docs/Decisions/0074). Of the stores of a process on one file the first to open it decides.
  public let keepsJournal: Bool

  /// The store at a path. Touches nothing before `open`.
  ///
  /// With a `key`, all values are encrypted and authenticated, and so are keys of indexes; see Docs/Security.md for what that protects.
  /// Opening throws `.missingKey`, `.wrongKey` and `.notEncrypted`.
  public init(path: String, key: (any StoreKey)? = nil, keepsJournal: Bool = false) {
    (location, self.key, self.keepsJournal) = (path, key, keepsJournal)
  }

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    try LMDBFiles(existing: location)?.refuseOtherNames()
    let files = options.isReadOnly ? LMDBBackend.reading : LMDBBackend.writing
    while true {
      var isNew = false
      let engine = try files.engine(at: location) { () throws(StorageError) in
        let store = try LMDBStore(
          path: location, isReadOnly: options.isReadOnly, createsIfMissing: options.createsIfMissing, isPrivate: options.isPrivate,
          key: key, keepsJournal: keepsJournal)
        isNew = true
        do throws(StorageError) {
          return try ColumnEngine(store.shown, options)
        } catch {
          let files = store.madeFiles
          store.close()
          files?.removeIfUnused()
          throw error
        }
      }
      if !engine.isClosed {
        // The engine may have been open already, and its opener had the key.
        if !isNew, engine.isSealed || key != nil { try checkKey(options) }
        return engine
      }
      files.forget(engine)
    }
  }

  /// Throws if the file at the location, which is open, has another key.
  private func checkKey(_ options: OpenOptions) throws(StorageError) {
    _ = try LMDBStore(path: location, isReadOnly: options.isReadOnly, createsIfMissing: false, key: key)
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
