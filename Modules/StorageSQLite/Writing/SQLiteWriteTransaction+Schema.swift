import CVivariumSQLite
import StorageInterface
import StoreValues

extension SQLiteWriteTransaction {
  func setCatalog(_ catalog: Catalog) throws(StorageError) {
    settleInsertion()
    try change { () throws(StorageError) in
      let new = SchemaLayout(self.catalog.hasSideEntries ? catalog.withSideEntries() : catalog)
      do throws(StorageError) {
        // The cached statements are for the old tables; open ones would also lock them.
        connection.use(new)
        try run(SchemaChange(from: layout, to: new), new)
        try connection.writeCatalog(new.catalog, version.next)
        let format = new.catalog.formatNeeded
        if try connection.number(of: "user_version") < format { try connection.execute("PRAGMA user_version = \(format)") }
      } catch {
        // The change may be half done.
        var error = error
        if error.scope == .statement { error.scope = .transaction }
        throw error
      }
      layout = new
      positions.forgetAll()
      tails.forgetAll()
      windows.forget()
    }
  }

  private func run(_ change: SchemaChange, _ new: SchemaLayout) throws(StorageError) {
    for text in change.statements {
      do throws(StorageError) { try connection.execute(text) } catch {
        guard error.underlyingCode == CSQLITE_CONSTRAINT_UNIQUE, let index = change.indexes[text] else { throw error }
        throw duplicates(index, error)
      }
    }
  }

  /// The error of a new unique index that the objects violate.
  private func duplicates(_ index: IndexLayout, _ error: StorageError) -> StorageError {
    var result = error
    result.code = .uniqueViolation
    result.index = index.entry.id
    let terms = index.columns.flatMap(\.orderTerms)
    let filter = terms.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    let text = "SELECT min(_key), count(*) FROM \(index.tableName) WHERE \(filter) "
      + "GROUP BY \(terms.joined(separator: ", ")) HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
    if let statement = try? connection.take(text: text) {
      if (try? connection.step(statement, "look for duplicates")) == true {
        result.conflictingKey = ObjectKey(statement.int64(0))
        result.message = "\(statement.int64(1)) objects have the same \(index.columns.map(\.label).joined(separator: ", "))."
      }
      connection.finish(statement)
    }
    return result
  }
}
