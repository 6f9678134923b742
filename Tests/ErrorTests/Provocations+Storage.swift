import CVivariumSQLite
import Foundation
import StorageInterface
import StorageMemory
import StorageSQLite
import StoreValues
import VivariumTestSupport

extension Provocations {
  /// Of the storage interface alone. The codes that stores have too are provoked by the mistakes above: an engine gave them.
  static let storage: [String: Provocation] = [
    "StorageError.misuse": { _ in
      let engine = try MemoryBackend().open(OpenOptions())
      _ = try engine.beginRead().count(TableID(99))
    },
    "StorageError.sqlite.error": { ground in
      let table = try ground.closedFile()
      let engine = try SQLiteBackend(path: ground.path).open(OpenOptions())
      defer { engine.close() }
      // As another program does that knows nothing of the store.
      var database: OpaquePointer?
      guard sqlite3_open(ground.path, &database) == SQLITE_OK else { return }
      sqlite3_exec(database, "DROP TABLE Pet", nil, nil, nil)
      sqlite3_close(database)
      _ = try engine.beginRead().value(table.column(named: "tag"), ObjectKey(1))
    },
    "StorageError.closed": { _ in
      let engine = try MemoryBackend().open(OpenOptions())
      engine.close()
      _ = try engine.beginRead()
    },
    "StorageError.objectDeleted": { ground in
      let table = try ground.closedFile()
      let engine = try SQLiteBackend(path: ground.path).open(OpenOptions())
      defer { engine.close() }
      _ = try engine.beginRead().value(table.column(named: "tag"), ObjectKey(77))
    },
  ]
}
