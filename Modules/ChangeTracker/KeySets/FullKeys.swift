import StorageInterface
import StoreValues

/// Reads full sort keys of the rows in one version of a view, for comparing rows with equal prefixes.
///
/// It reads them in a storage version. For a view's older version it needs none: a row that has not changed
/// since has the same key in the newest one, and the keys of the others are known to who kept the changes.
package struct FullKeys {
  private let read: (Int64) throws(StorageError) -> [UInt8]

  /// From whatever knows the keys of all rows of the version.
  package init(_ read: @escaping (Int64) throws(StorageError) -> [UInt8]) { self.read = read }

  package init(_ question: any ViewQuestion, in reading: any StorageReading) {
    self.init { (key: Int64) throws(StorageError) in try question.sortKey(ObjectKey(key), in: reading) }
  }

  /// An older version of the view, in which some rows had other keys.
  package func overridden(by known: @escaping (Int64) -> [UInt8]?) -> FullKeys {
    FullKeys { (key: Int64) throws(StorageError) in
      if let sortKey = known(key) { return sortKey }
      return try read(key)
    }
  }

  func sortKey(of key: Int64) throws(StorageError) -> [UInt8] { try read(key) }
}

/// One row that is looked for, with its full key.
struct FullKeyTies: TieOrder {
  private let sortKey: [UInt8]
  private let keys: FullKeys

  init(_ row: OrderedRow, _ keys: FullKeys) {
    sortKey = row.sortKey
    self.keys = keys
  }

  func order(toStored key: Int64) throws(StorageError) -> Int {
    SortKeyBytes.order(sortKey, try keys.sortKey(of: key))
  }
}
