import StorageInterface
import StoreValues
import VivariumTestSupport

/// A backend whose every change may be the process's last.
struct MortalBackend: StorageBackend {
  let base: any StorageBackend
  let death: Death

  var kind: String { base.kind }
  var location: String { base.location }
  var isFile: Bool { base.isFile }
  func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    ForwardingEngine(try base.open(options), write: { MortalWrite(base: $0, death: death) })
  }
  func isPresent() -> Bool { base.isPresent() }
  func remove() throws(StorageError) { try base.remove() }
}

final class MortalWrite: ForwardingWrite {
  let base: any WriteTransaction
  private let death: Death

  init(base: any WriteTransaction, death: Death) {
    self.base = base
    self.death = death
    death.next()
  }

  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    death.next()
    return try base.insert(row)
  }

  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    death.next()
    try base.delete(table, key)
  }

  func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    death.next()
    return try base.set(column, key, word: word)
  }

  func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    death.next()
    return try base.set(column, key, bytes: bytes)
  }

  func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    death.next()
    try base.edit(column, owner, edit)
  }

  func setCatalog(_ catalog: Catalog) throws(StorageError) {
    death.next()
    try base.setCatalog(catalog)
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    death.next()
    death.willCommit()
    let version = try base.commit(record, durability)
    death.next()
    return version
  }
}
