#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Coordination
import Storage
import Values

/// A store in an SQLite file with a table per type, readable by any SQLite program.
///
/// Beside the file lie SQLite's own `-wal` and `-shm`, and `.coord` and `.bell`, through which the processes that
/// have the store open agree. A plain value; making one touches nothing.
public struct SQLiteBackend: StorageBackend {
  public let kind = "sqlite"
  /// The path of the main file.
  public let location: String
  /// At most so many pages in the file; 0: no limit. For tests of a full disk.
  package var pagesMax = 0

  private static let openFiles = OpenFiles<SQLiteEngine>()

  /// The store in the file at `path`, which need not exist yet. Opens nothing.
  public init(path: String) { location = path }

  private var file: StoreFile { StoreFile(path: location) }

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    let pagesMax = pagesMax
    let file = file
    try HeldFiles.refuseInherited(location)
    let engine = try SQLiteBackend.openFiles.engine(at: location) { () throws(StorageError) in
      let isNew = try file.prepare(options)
      do throws(StorageError) {
        return try SQLiteEngine(file, options, pagesMax: pagesMax) { SQLiteBackend.openFiles.forget($0) }
      } catch {
        if isNew { file.removeIfUnused() }
        throw error
      }
    }
    guard options.isReadOnly || !engine.options.isReadOnly else {
      throw StorageError(
        .alreadyOpen, .engine, "'\(location)' is open read-only in this process.",
        remedy: "Close it first, or open it for writing from the start.")
    }
    return engine
  }

  public func isPresent() -> Bool {
    if case .ours = try? FileHeader.read(location) { true } else { false }
  }

  public func remove() throws(StorageError) {
    let file = file
    switch try FileHeader.read(location) {
    case .foreign(let reason):
      throw StorageError(.foreignFile, .engine, "'\(location)' is not a store: \(reason).", remedy: "Check the path.")
    case .missing, .empty, .ours: break
    }
    try StorePresence.whileAbsent(path: file.coordinationPath) { () throws(StorageError) in try file.removeAll() }
  }
}

extension StoreConfiguration {
  /// A store in an SQLite file at `url`, made when it is missing.
  public static func sqlite(_ url: URL, models: any SchemaDescribing.Type...) -> StoreConfiguration {
    StoreConfiguration(backend: SQLiteBackend(path: url.path), models: models)
  }

  /// A store in an SQLite file at `path`, made when it is missing.
  public static func sqlite(_ path: String, models: any SchemaDescribing.Type...) -> StoreConfiguration {
    StoreConfiguration(backend: SQLiteBackend(path: path), models: models)
  }
}
