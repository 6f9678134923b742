import StorageInterface

/// One row in a sorted view: the first 8 bytes of its normalised sort key, and its object key. 16 bytes.
package struct ViewEntry: Hashable, Sendable {
  package var prefix: UInt64
  package var key: Int64

  package init(prefix: UInt64, key: Int64) {
    self.prefix = prefix
    self.key = key
  }
}

/// A row's complete place in an order: its tree entry, and the part of its sort key that the tree does not store.
package struct OrderedRow: Hashable, Sendable {
  package var prefix: UInt64
  /// The whole normalised sort key, bytes that sort as the rows do. Empty if the prefix suffices.
  package var sortKey: [UInt8]
  package var key: Int64

  package init(prefix: UInt64, sortKey: [UInt8] = [], key: Int64) {
    self.prefix = prefix
    self.sortKey = sortKey
    self.key = key
  }

  package var entry: ViewEntry { ViewEntry(prefix: prefix, key: key) }
}

extension OrderedRow: Comparable {
  package static func < (a: Self, b: Self) -> Bool {
    if a.prefix != b.prefix { return a.prefix < b.prefix }
    let order = a.sortKey.isEmpty && b.sortKey.isEmpty ? 0 : SortKeyBytes.order(a.sortKey, b.sortKey)
    return order != 0 ? order < 0 : a.key < b.key
  }
}

/// Compares a searched row with a stored row that has the same prefix.
protocol TieOrder {
  /// Negative, 0 or positive if the searched row's full sort key is below, equal to or above the stored row's. Rows with equal
  /// full keys are ordered by object key.
  func order(toStored key: Int64) throws(StorageError) -> Int
}

/// For orders whose prefix is the whole sort key.
struct NoTies: TieOrder {
  @inline(__always) func order(toStored key: Int64) -> Int { 0 }
}
