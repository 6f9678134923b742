import StoreValues

/// A power of writes: one commit that adopts the version and the history of another store, so that copying a store does not
/// need a commit for each version.
public protocol HistoryAdopting: WriteTransaction {
  /// As `commit`, but makes the version of the last record, and replaces the history by the records: as many of the last ones
  /// as the store keeps.
  ///
  /// Throws `.misuse`, of scope transaction, unless there is a record, the records are consecutive, and the last one is above
  /// `version`.
  func commit(adopting records: [CommitRecord], _ durability: Durability) throws(StorageError) -> Version
}

extension HistoryAdopting {
  /// Throws unless the records are a history that can follow this version.
  package func checkHistory(_ records: [CommitRecord]) throws(StorageError) {
    let isUnbroken = zip(records, records.dropFirst()).allSatisfy { $0.version.next == $1.version }
    guard let last = records.last, isUnbroken, last.version > version, last.version.rawValue < UInt64(Int64.max) else {
      throw StorageError(.misuse, .transaction, "The records are no history that ends above \(version).")
    }
  }
}
