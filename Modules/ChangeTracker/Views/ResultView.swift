import StorageInterface
import StoreValues

/// The rows of one result, sorted or not: the two kinds of view behind one type.
///
/// Confined to its owner.
package final class ResultView {
  enum Rows {
    case sorted(SortedView)
    case keys(KeySetView)
  }

  let rows: Rows

  init(_ rows: Rows) { self.rows = rows }

  /// A result ordered by object key: bits if that is smaller, a tree if rows are sparse. `keys` ascending, without duplicates.
  package static func byKey(_ keys: [Int64]) -> ResultView {
    if KeySetView.suits(keys) { return ResultView(.keys(KeySetView(keys))) }
    return ResultView(.sorted(SortedView(keys.map { ViewEntry(prefix: 0, key: $0) })))
  }

  /// A sorted result, from entries in order. `isWide`: entries have a second prefix.
  package static func sorted(_ entries: [ViewEntry], isWide: Bool = false) -> ResultView {
    ResultView(.sorted(SortedView(entries, isWide: isWide)))
  }

  package var count: Int {
    switch rows {
    case .sorted(let view): view.count
    case .keys(let view): view.count
    }
  }

  /// The last published version.
  package var latest: ViewVersion {
    switch rows {
    case .sorted(let view): .sorted(view.latest)
    case .keys(let view): .keys(view.latest)
    }
  }

  @discardableResult package func publish() -> ViewVersion {
    switch rows {
    case .sorted(let view): .sorted(view.publish())
    case .keys(let view): .keys(view.publish())
    }
  }

  /// Reverts every edit since the last version.
  package func rollBack() {
    switch rows {
    case .sorted(let view): view.rollBack()
    case .keys(let view): view.rollBack()
    }
  }

  /// Frees the memory of versions that are no longer read.
  package func reclaim() {
    switch rows {
    case .sorted(let view): view.reclaim()
    case .keys(let view): view.reclaim()
    }
  }

  /// The size of the view and its living versions in bytes.
  package var bytesInUse: Int {
    switch rows {
    case .sorted(let view): view.bytesInUse
    case .keys(let view): view.bytesInUse
    }
  }
}

/// One published state of a result: a few words, immutable, for any thread. It retains nodes of the view and no storage
/// version.
package enum ViewVersion: Sendable {
  case sorted(SortedVersion)
  case keys(KeySetVersion)

  package var count: Int {
    switch self {
    case .sorted(let version): version.count
    case .keys(let version): version.count
    }
  }

  /// The object at a position; nil outside. O(log n).
  package func key(at position: Int) -> ObjectKey? {
    switch self {
    case .sorted(let version): version.key(at: position)
    case .keys(let version): version.key(at: position)
    }
  }

  /// The keys at some positions, clamped. O(log n), plus a little per key.
  package func keys(in range: Range<Int>) -> [Int64] {
    switch self {
    case .sorted(let version): version.keys(in: range)
    case .keys(let version): version.keys(in: range)
    }
  }

  /// Every key, in order. O(n).
  package var allKeys: [Int64] { keys(in: 0..<count) }

  /// The number of rows before this one's place, and whether it is present. `keys` reads full sort keys as of this version; nil
  /// if prefixes suffice. O(log n).
  package func rank(of row: OrderedRow, _ keys: FullKeys?) throws(StorageError) -> (position: Int, isFound: Bool) {
    switch self {
    case .sorted(let version): try version.rank(of: row, keys)
    case .keys(let version): version.rank(of: row.key)
    }
  }

  package static func === (a: ViewVersion, b: ViewVersion) -> Bool {
    switch (a, b) {
    case (.sorted(let a), .sorted(let b)): a === b
    case (.keys(let a), .keys(let b)): a === b
    default: false
    }
  }
}
