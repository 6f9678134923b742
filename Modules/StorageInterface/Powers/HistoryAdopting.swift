import StoreValues

/// A power of writes: one commit that takes over the version and the history of another store. Who copies a store needs no
/// commit for each version it ever had.
public protocol HistoryAdopting: WriteTransaction {
  /// As `commit`, but makes the version of the last record, and the records the history instead of what there was of one:
  /// as many of the last as the store keeps.
  ///
  /// Throws `.misuse`, of scope transaction, unless there is a record, each follows the one before without a gap, and the
  /// last is above `version`.
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
