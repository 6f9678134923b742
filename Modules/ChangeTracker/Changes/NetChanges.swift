import StorageInterface
import StoreValues

/// The changes of a view between a version given to observers and the current one, over any number of steps: each touched row
/// with its place in both.
///
/// One per distinct base version, shared by all tokens last given it. Merging the positions of steps would lose the identity of
/// rows (one that leaves and comes back); places do not. Bounded by the rows of the two versions, whatever the number of steps.
/// Retains only nodes of the base, no storage version.
///
/// A value: a token that skips a step takes a copy. Confined to its owner.
package struct NetChanges {
  struct Row {
    var known: OrderedRow?
    var last: OrderedRow?
    var marks: RowMarks
  }

  /// A row that a skipped step removed, inserted or moved: its place in the base and its place after the step, and their
  /// positions in the base.
  struct Skipped {
    var inBase: OrderedRow?
    var position = 0
    var after: OrderedRow?
    var rank = 0
  }

  /// The version given to the tokens. With skipped rows, the tokens know the base with these rows moved to their new places.
  package private(set) var base: ViewVersion
  var rows: [Int64: Row] = [:]
  var skipped: [Int64: Skipped] = [:]
  /// The only step so far, not yet in `rows`: mostly it is delivered before the next one, and its positions need not be
  /// computed again.
  private var only: ViewStep?

  package init(base: ViewVersion) { self.base = base }

  /// Whether nothing is pending, for any filter.
  package var isEmpty: Bool { rows.isEmpty && only == nil }

  /// The number of rows kept for the next change set.
  package var pendingRows: Int { settled.rows.count }

  /// The same value, with every step in `rows`.
  var settled: NetChanges {
    var settled = self
    settled.settle()
    return settled
  }

  mutating func settle() {
    guard let step = only else { return }
    only = nil
    rows.reserveCapacity(step.rows.count)
    for change in step.rows { add(change) }
  }
}

// MARK: - Steps

extension NetChanges {
  /// Adds a step, which must begin at the version where the last one ended. O(k).
  package mutating func add(_ step: ViewStep) {
    if isEmpty, skipped.isEmpty, step.from === base {
      only = step
      return
    }
    settle()
    for change in step.rows { add(change) }
    // Nothing is pending, so the tokens know the newest version: the nodes of the older one can be freed.
    if rows.isEmpty { self = NetChanges(base: step.to) }
  }

  mutating func add(_ change: RowChange) {
    guard let i = rows.index(forKey: change.key) else {
      if change.old == nil, change.new == nil { return }
      rows[change.key] = Row(known: change.old, last: change.new, marks: change.marks)
      return
    }
    rows.values[i].last = change.new
    rows.values[i].marks.formUnion(change.marks)
    if rows.values[i].known == nil, change.new == nil { rows.remove(at: i) }
  }

  /// Adds marks of objects that are not rows. Those that the tokens know and that may come back count as modified then.
  package mutating func note(outside marks: [Int64: RowMarks]) {
    if isEmpty { return }
    settle()
    for (key, marks) in marks { rows[key]?.marks.formUnion(marks) }
  }

  /// Records that everything up to a version was delivered.
  package mutating func rebase(on version: ViewVersion) { self = NetChanges(base: version) }
}

// MARK: - The change set

extension NetChanges {
  /// The change set for a token: from the version it knows to `version`, the last step's result. `keys` reads full sort keys in
  /// the storage version of `version`; nil if prefixes suffice. O(k log n + k log k).
  package func changeSet(
    to version: ViewVersion, _ keys: FullKeys? = nil, _ filter: ModificationFilter = .all
  ) throws(StorageError) -> ChangeSet {
    try netPositions(to: version, keys).changeSet(filter)
  }

  /// The same before filtering, for several tokens with different filters.
  package func netPositions(to version: ViewVersion, _ keys: FullKeys? = nil) throws(StorageError) -> NetPositions {
    if isEmpty { return NetPositions(positions: PositionedChanges(), marks: [], keys: []) }
    if let only {
      guard only.to === version else { return try settled.netPositions(to: version, keys) }
      return NetPositions(positions: only.positions, marks: only.rows.map(\.marks), keys: only.rows.map(\.key))
    }
    if skipped.isEmpty, case .sorted(let old) = base, case .sorted(let new) = version,
      rows.count > 1_000, rows.count > max(old.count, new.count) / 100,
      let walked = walkedPositions(from: old, to: new)
    {
      return walked
    }
    return try rankedPositions(to: version, keys)
  }

  /// Looks up each row in both versions.
  func rankedPositions(to version: ViewVersion, _ fullKeys: FullKeys?) throws(StorageError) -> NetPositions {
    let known = KnownPositions(self, fullKeys)
    var positions = PositionedChanges()
    var marks: [RowMarks] = []
    var keys: [Int64] = []
    marks.reserveCapacity(rows.count)
    keys.reserveCapacity(rows.count)
    for (key, row) in rows {
      let index = marks.count
      marks.append(row.marks)
      keys.append(key)
      var old: Int?
      var new: Int?
      if let place = row.known { old = try known.position(of: place) }
      if let place = row.last { new = try version.rank(of: place, fullKeys).position }
      if let old, let new, row.known == row.last {
        positions.kept.append(.init(old: old, new: new, row: index))
        continue
      }
      if let old { positions.removed.append(.init(position: old, row: index)) }
      if let new { positions.inserted.append(.init(position: new, row: index)) }
    }
    positions.removed.sort { $0.position < $1.position }
    positions.inserted.sort { $0.position < $1.position }
    positions.kept.sort { $0.old < $1.old }
    positions.findPartners(rows: marks.count)
    return NetPositions(positions: positions, marks: marks, keys: keys)
  }

  /// The marks of each row over all pending steps.
  package var pendingMarks: [Int64: RowMarks] { settled.rows.mapValues(\.marks) }

  /// The full sort key of a row in the base tree, if the row was touched since.
  func sortKeyInBase(_ key: Int64) -> [UInt8]? {
    if let skipped = skipped[key] { return skipped.inBase?.sortKey }
    return rows[key]?.known?.sortKey
  }

  /// Positions in the state that the tokens know.
  private struct KnownPositions {
    let base: ViewVersion
    let keys: FullKeys?
    let gone: [OrderedRow]
    let come: [OrderedRow]

    init(_ changes: NetChanges, _ keys: FullKeys?) {
      base = changes.base
      self.keys = keys?.overridden { changes.sortKeyInBase($0) }
      gone = changes.skipped.values.compactMap(\.inBase).sorted()
      come = changes.skipped.values.compactMap(\.after).sorted()
    }

    func position(of row: OrderedRow) throws(StorageError) -> Int {
      try base.rank(of: row, keys).position - below(row, gone) + below(row, come)
    }

    private func below(_ row: OrderedRow, _ places: [OrderedRow]) -> Int {
      var low = 0
      var high = places.count
      while low < high {
        let middle = (low + high) / 2
        if places[middle] < row { low = middle + 1 } else { high = middle }
      }
      return low
    }
  }
}

/// The positions of net changes, from which each token's change set is filtered.
package struct NetPositions: Sendable {
  let positions: PositionedChanges
  let marks: [RowMarks]
  let keys: [Int64]

  package var isEmpty: Bool { positions.isEmpty }

  package func changeSet(_ filter: ModificationFilter = .all) -> ChangeSet {
    positions.changeSet { filter.wants(marks[$0]) }
  }

  /// The objects at some deleted positions of a change set of these positions.
  package func keys(ofDeletions deletions: [Int]) -> [Int64] {
    let removed = Dictionary(uniqueKeysWithValues: positions.removed.map { ($0.position, keys[$0.row]) })
    return deletions.compactMap { removed[$0] }
  }
}

extension PositionedChanges {
  /// Fills in `partner` by row. O(k).
  mutating func findPartners(rows: Int) {
    var places = [Int](repeating: -1, count: rows)
    for (i, row) in inserted.enumerated() { places[row.row] = i }
    for j in removed.indices { removed[j].partner = places[removed[j].row] }
  }
}
