import StorageInterface
import StoreValues

/// The version a store reads after `invalidate()`: it has the types but no objects. Holds nothing.
final class NoVersion: ReadTransaction {
  let version: Version
  let catalog: Catalog

  init(after reading: any StorageReading) {
    version = reading.version
    catalog = reading.catalog
  }

  var powers: StoragePowers { StoragePowers() }

  private func gone(_ table: TableID, _ key: ObjectKey) -> StorageError {
    StorageError(
      .objectDeleted, .statement, "Object \(key) cannot be read: the store was invalidated.",
      remedy: "Call 'refresh()' first.")
  }

  func count(_ table: TableID) throws(StorageError) -> Int { 0 }
  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool { false }
  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? { throw gone(column.table, key) }
  func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) { throw gone(column.table, key) }
  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {}
  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {}
  func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int { 0 }
  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int { throw gone(column.table, owner) }
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) { throw gone(column.table, owner) }
  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {}
  func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {}
  func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    throw gone(column.table, owner)
  }
  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {}
  func end() {}
}
