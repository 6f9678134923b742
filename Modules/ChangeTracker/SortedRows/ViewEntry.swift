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

/// A row's place in an order, complete: what an entry is in the tree, with the part of its sort key that the
/// tree does not keep.
package struct OrderedRow: Hashable, Sendable {
  package var prefix: UInt64
  /// The whole normalised sort key, bytes that order as the rows do. Empty where the prefix says it all.
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

/// Decides the order of a row that is looked for and a row in the tree where both have the same prefix.
protocol TieOrder {
  /// Negative, 0 or positive as the full sort key of the row that is looked for is below, equal to or above
  /// the stored row's. Equal full keys are then ordered by object key.
  func order(toStored key: Int64) throws(StorageError) -> Int
}

/// The prefix is the whole sort key.
struct NoTies: TieOrder {
  @inline(__always) func order(toStored key: Int64) -> Int { 0 }
}
