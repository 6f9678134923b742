import StorageInterface
import StoreValues

/// Reads full sort keys of the rows in one version of a view, to compare rows with equal prefixes.
///
/// It reads in one storage version only. That suffices for a view's older version: a row unchanged since has the same key in
/// the newest one, and whoever tracked the changes knows the other keys.
package struct FullKeys {
  private let read: (Int64) throws(StorageError) -> [UInt8]

  /// Reads with a function that knows the keys of all rows of the version.
  package init(_ read: @escaping (Int64) throws(StorageError) -> [UInt8]) { self.read = read }

  package init(_ question: any ViewQuestion, in reading: any StorageReading) {
    self.init { (key: Int64) throws(StorageError) in try question.sortKey(ObjectKey(key), in: reading) }
  }

  /// Keys of an older version of the view, in which some rows had other keys.
  package func overridden(by known: @escaping (Int64) -> [UInt8]?) -> FullKeys {
    FullKeys { (key: Int64) throws(StorageError) in
      if let sortKey = known(key) { return sortKey }
      return try read(key)
    }
  }

  func sortKey(of key: Int64) throws(StorageError) -> [UInt8] { try read(key) }
}

/// The row being searched for, with its full key.
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
