#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageCoordination
import StorageInterface
import StoreValues

/// A store in an SQLite file with one table per type, readable by any SQLite program.
///
/// SQLite's own `-wal` and `-shm` files lie beside the file, and `.coord` and `.bell`, by which the processes that have the
/// store open coordinate. They belong to the file, not to the path: a symbolic link leads to the same store, even if its target
/// does not exist yet, and `remove` removes the target. A file with a second name (a hard link) is not opened, because SQLite
/// finds its log by the name. A plain value; creating one touches nothing.
public struct SQLiteBackend: StorageBackend {
  public let kind = "sqlite"
  public var isFile: Bool { true }
  /// The path of the main file.
  public let location: String
  /// The encryption key; nil: the file is not encrypted.
  public let key: (any StoreKey)?
  /// The most pages in the file; 0: no limit. For tests of a full disk.
  package var pagesMax = 0

  /// The engines of this process, by file. A read-only engine and a writing one of the same file are separate.
  private static let writing = OpenFiles<SQLiteEngine>()
  private static let reading = OpenFiles<SQLiteEngine>()

  /// The store in the file at `path`, which need not exist yet. Opens nothing.
  ///
  /// With a `key`, everything in the file and its log but the first 100 bytes is encrypted and authenticated; see Docs/Security.md for
  /// what that protects. Opening throws `.missingKey`, `.wrongKey` and `.notEncrypted`.
  public init(path: String, key: (any StoreKey)? = nil) { (location, self.key) = (path, key) }

  var file: StoreFile { StoreFile(path: SQLiteBackend.resolved(location), seal: key.map { FileSeal($0) }) }

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    let (file, pagesMax) = (file, pagesMax)
    try HeldFiles.refuseInherited(file.path)
    let files = options.isReadOnly ? SQLiteBackend.reading : SQLiteBackend.writing
    let engine = try files.engine(at: file.path) { () throws(StorageError) in
      guard options.isReadOnly || !SQLiteBackend.isRead(file.path) else {
        throw StorageError(
          .alreadyOpen, .engine, "'\(location)' is open read-only in this process.",
          remedy: "Close it first, or open it for writing from the start.")
      }
      let made = try file.prepare(options)
      do throws(StorageError) {
        return try SQLiteEngine(file, options, pagesMax: pagesMax) { files.forget($0) }
      } catch {
        file.removeTraces(made)
        throw error
      }
    }
    // The engine may have been open already, and its opener had the key.
    if engine.file.seal !== file.seal { try file.check(try engine.file.seal?.current().mark) }
    return engine
  }

  /// Whether an engine of this process has the file open read-only.
  private static func isRead(_ path: String) -> Bool {
    let engine = try? reading.engine(at: path) { () throws(StorageError) in throw .closedEngine }
    return engine != nil
  }

  public func isPresent() -> Bool {
    if case .ours = try? SQLiteHeader.read(file.path) { true } else { false }
  }

  public func remove() throws(StorageError) {
    let file = file
    switch try SQLiteHeader.read(file.path) {
    case .foreign(let reason):
      throw StorageError(.foreignFile, .engine, "'\(location)' is not a store: \(reason).", remedy: "Check the path.")
    case .missing, .empty, .ours: break
    }
    try StorePresence.whileAbsent(path: file.coordinationPath) { () throws(StorageError) in try file.removeAll() }
  }
}

extension StoreConfiguration {
  /// A store in an SQLite file at `url`, created if missing.
  ///
  /// `key`: the encryption key, such as an `EncryptionKey` of `StorageEncryption`; an existing file must have been created with
  /// it.
  public static func sqlite(
    _ url: URL, key: (any StoreKey)? = nil, models: any SchemaDescribing.Type...
  ) -> StoreConfiguration {
    StoreConfiguration(backend: SQLiteBackend(path: url.storePath, key: key), models: models)
  }

  /// A store in an SQLite file at `path`, created if missing.
  public static func sqlite(
    _ path: String, key: (any StoreKey)? = nil, models: any SchemaDescribing.Type...
  ) -> StoreConfiguration {
    StoreConfiguration(backend: SQLiteBackend(path: path, key: key), models: models)
  }
}
