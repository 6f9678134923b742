import StorageInterface
import StoreValues

extension SQLiteWriteTransaction {
  func beginSavepoint() throws(StorageError) {
    settleInsertion()
    try change { () throws(StorageError) in
      try connection.run(StatementKey(.savepoint), "SAVEPOINT part")
      marks.append(Mark(layout: layout, objectCounts: objectCounts))
    }
  }

  func releaseSavepoint() throws(StorageError) {
    settleInsertion()
    try change { () throws(StorageError) in
      guard !marks.isEmpty else { throw .misuse("No savepoint is open.") }
      try connection.run(StatementKey(.release), "RELEASE part")
      marks.removeLast()
    }
  }

  func rollbackToSavepoint() throws(StorageError) {
    settleInsertion()
    try change { () throws(StorageError) in
      guard let mark = marks.last else { throw .misuse("No savepoint is open.") }
      // The name refers to the innermost savepoint. Rolling back keeps it, so it must be released too.
      try connection.run(StatementKey(.undo), "ROLLBACK TO part")
      try connection.run(StatementKey(.release), "RELEASE part")
      marks.removeLast()
      positions.forgetAll()
      tails.forgetAll()
      // A count first read since then may include what is undone now.
      objectCounts = mark.objectCounts
      // The counters of a table that was made since are gone with it.
      if layout !== mark.layout { countedTables = countedTables.filter { (try? mark.layout.table($0)) != nil } }
      layout = mark.layout
      connection.use(layout)
      windows.forget()
    }
  }
}
