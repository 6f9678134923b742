import Storage
import Values

extension SQLiteWriteTransaction {
  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    throw .misuse("Sets are not supported yet.")
  }

  func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    throw .misuse("Sets are not supported yet.")
  }

  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    throw .misuse("Maps are not supported yet.")
  }

  func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    throw .misuse("Maps are not supported yet.")
  }
}
