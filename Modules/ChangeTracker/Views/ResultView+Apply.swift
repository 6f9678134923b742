import StorageInterface

extension ResultView {
  /// Advances the view by one version: moves the rows, publishes, and returns the step. O(k log n).
  ///
  /// `old` of a row is its place if the view has it; the view itself knows whether it does. `before` and `after` read full sort
  /// keys of every row before and after; nil if prefixes suffice. If reading throws, the view is unchanged.
  package func apply(
    _ changes: [RowChange], before: FullKeys? = nil, after: FullKeys? = nil
  ) throws(StorageError) -> ViewStep {
    reclaim()
    let from = latest
    do throws(StorageError) {
      var step = StepBuilder(view: self, rows: changes, before: before, after: after)
      try step.sortOut()
      try step.remove()
      try step.insert()
      step.locateKept()
      let isSame = step.positions.removed.isEmpty && step.positions.inserted.isEmpty
      return ViewStep(from: from, to: isSame ? from : publish(), rows: step.rows, positions: step.positions)
    } catch {
      rollBack()
      throw error
    }
  }
}

/// Builds one step. First every removal, compared by the old sort keys; then every insertion, compared by the new ones. In
/// between, all remaining rows have the same key in both, so no search ever mixes the two.
private struct StepBuilder {
  let view: ResultView
  var rows: [RowChange]
  let before: FullKeys?
  let after: FullKeys?
  var positions = PositionedChanges()
  /// Rows to remove if present, and rows to insert.
  private var leaving: [Placed] = []
  private var coming: [Placed] = []

  /// A row's index, with the entry that most comparisons need.
  private struct Placed {
    let entry: ViewEntry
    let row: Int
  }

  init(view: ResultView, rows: [RowChange], before: FullKeys?, after: FullKeys?) {
    self.view = view
    self.rows = rows
    self.before = before
    self.after = after
  }

  /// Looks up rows whose place is unchanged; those present are kept.
  mutating func sortOut() throws(StorageError) {
    leaving.reserveCapacity(rows.count)
    coming.reserveCapacity(rows.count)
    for i in rows.indices {
      if let old = rows[i].old, old == rows[i].new {
        let (position, isFound) = try view.find(old, before)
        if isFound {
          positions.kept.append(.init(old: position, new: position, row: i))
        } else {
          rows[i].old = nil
          coming.append(Placed(entry: old.entry, row: i))
        }
        continue
      }
      if let old = rows[i].old { leaving.append(Placed(entry: old.entry, row: i)) }
      if let new = rows[i].new { coming.append(Placed(entry: new.entry, row: i)) }
    }
    sort(&leaving, hasKeys: before != nil, \.old)
    sort(&coming, hasKeys: after != nil, \.new)
    if positions.kept.count > 1 { positions.kept.sort { $0.old < $1.old } }
  }

  private func sort(_ placed: inout [Placed], hasKeys: Bool, _ place: KeyPath<RowChange, OrderedRow?>) {
    guard placed.count > 1 else { return }
    if !hasKeys { return placed.sort { $0.entry < $1.entry } }
    placed.sort { a, b in
      if !a.entry.hasPrefixes(of: b.entry) { return a.entry < b.entry }
      guard let x = rows[a.row][keyPath: place], let y = rows[b.row][keyPath: place] else { return false }
      return x < y
    }
  }

  mutating func remove() throws(StorageError) {
    positions.removed.reserveCapacity(leaving.count)
    for placed in leaving {
      let position: Int?
      if let before, let old = rows[placed.row].old {
        position = try view.remove(old, before)
      } else {
        position = try view.remove(placed.entry)
      }
      if let position {
        // The earlier removals were all at smaller positions.
        positions.removed.append(.init(position: position + positions.removed.count, row: placed.row))
      } else {
        rows[placed.row].old = nil
      }
    }
  }

  mutating func insert() throws(StorageError) {
    positions.inserted.reserveCapacity(coming.count)
    for placed in coming {
      let position: Int?
      if let after, let new = rows[placed.row].new {
        position = try view.insert(new, after)
      } else {
        position = try view.insert(placed.entry)
      }
      // The later insertions are all at greater positions, so this one is final.
      if let position { positions.inserted.append(.init(position: position, row: placed.row)) }
    }
    if !positions.removed.isEmpty { positions.findPartners(rows: rows.count) }
  }

  /// Computes new positions of the kept rows from their old ones, in one pass over the three lists.
  mutating func locateKept() {
    var (removed, inserted) = (0, 0)
    for k in positions.kept.indices {
      let old = positions.kept[k].old
      while removed < positions.removed.count, positions.removed[removed].position < old { removed += 1 }
      let rest = old - removed
      while inserted < positions.inserted.count, positions.inserted[inserted].position - inserted <= rest {
        inserted += 1
      }
      positions.kept[k].new = rest + inserted
    }
  }
}

extension ResultView {
  fileprivate func find(_ row: OrderedRow, _ keys: FullKeys?) throws(StorageError) -> (position: Int, isFound: Bool) {
    switch rows {
    case .keys(let view): return view.reader.rank(of: row.key)
    case .sorted(let view):
      guard let keys else { return try view.reader.find(row.entry, NoTies()) }
      return try view.reader.find(row.entry, FullKeyTies(row, keys))
    }
  }

  fileprivate func remove(_ entry: ViewEntry) throws(StorageError) -> Int? {
    switch rows {
    case .keys(let view): view.remove(entry.key)
    case .sorted(let view): try view.remove(entry, NoTies())
    }
  }

  fileprivate func remove(_ row: OrderedRow, _ keys: FullKeys) throws(StorageError) -> Int? {
    switch rows {
    case .keys(let view): view.remove(row.key)
    case .sorted(let view): try view.remove(row.entry, FullKeyTies(row, keys))
    }
  }

  fileprivate func insert(_ entry: ViewEntry) throws(StorageError) -> Int? {
    switch rows {
    case .keys(let view): view.insert(entry.key)
    case .sorted(let view): try view.insert(entry, NoTies())
    }
  }

  fileprivate func insert(_ row: OrderedRow, _ keys: FullKeys) throws(StorageError) -> Int? {
    switch rows {
    case .keys(let view): view.insert(row.key)
    case .sorted(let view): try view.insert(row.entry, FullKeyTies(row, keys))
    }
  }
}
