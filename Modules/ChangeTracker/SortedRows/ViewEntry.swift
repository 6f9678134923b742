import StorageInterface

/// One row in a sorted view: the start of its normalised sort key, and its object key.
///
/// Compared by `prefix`, then `second`, then, where those two are not the whole sort key, by the full sort key, then `key`.
package struct ViewEntry: Hashable, Sendable {
  /// The first 8 bytes of the sort key.
  package var prefix: UInt64
  /// The next 8 bytes; 0 in a tree that keeps only the first (`TreeLayout.isWide`).
  package var second: UInt64
  package var key: Int64

  package init(prefix: UInt64, second: UInt64 = 0, key: Int64) {
    self.prefix = prefix
    self.second = second
    self.key = key
  }

  @inline(__always) func hasPrefixes(of other: ViewEntry) -> Bool { prefix == other.prefix && second == other.second }
}

/// A row's complete place in an order: its entry in the tree, and the sort key where the entry has only the start of it.
package struct OrderedRow: Hashable, Sendable {
  package var entry: ViewEntry
  /// The whole normalised sort key, bytes that order as the rows do. Empty where the entry has all of it.
  package var sortKey: [UInt8]

  package init(_ entry: ViewEntry, sortKey: [UInt8] = []) {
    self.entry = entry
    self.sortKey = sortKey
  }

  /// A row whose sort key is 8 bytes long.
  package init(prefix: UInt64, key: Int64) { self.init(ViewEntry(prefix: prefix, key: key)) }

  /// A row of an order by full sort keys.
  package init(sortKey: [UInt8], key: Int64) {
    let (prefix, second) = SortKeyBytes.prefixes(of: sortKey)
    self.init(ViewEntry(prefix: prefix, second: second, key: key), sortKey: sortKey)
  }

  package var key: Int64 { entry.key }
}

extension ViewEntry: Comparable {
  package static func < (a: Self, b: Self) -> Bool {
    if a.prefix != b.prefix { return a.prefix < b.prefix }
    return a.second != b.second ? a.second < b.second : a.key < b.key
  }
}

extension OrderedRow: Comparable {
  package static func < (a: Self, b: Self) -> Bool {
    let (x, y) = (a.entry, b.entry)
    if x.prefix != y.prefix { return x.prefix < y.prefix }
    if x.second != y.second { return x.second < y.second }
    let order = a.sortKey.isEmpty && b.sortKey.isEmpty ? 0 : SortKeyBytes.order(a.sortKey, b.sortKey)
    return order != 0 ? order < 0 : x.key < y.key
  }
}

/// Decides the order of a searched row and a row in the tree whose entries have equal prefixes.
protocol TieOrder {
  /// Negative, 0 or positive if the searched row's full sort key is below, equal to or above the stored row's. Rows with equal
  /// full keys are ordered by object key.
  func order(toStored key: Int64) throws(StorageError) -> Int
}

/// The entry has the whole sort key.
struct NoTies: TieOrder {
  @inline(__always) func order(toStored key: Int64) -> Int { 0 }
}
