import Storage

extension ResultView {
  /// Takes the view one version on: moves the rows, publishes and says what happened. O(k log n).
  ///
  /// A row's `old` is where it is if the view has it; the view itself knows whether it has. `before` and `after`
  /// read full sort keys of every row as they were and as they are; nil where prefixes say it all. When reading
  /// throws, the view is as it was.
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

/// The work of one step. First every removal, compared by the old sort keys; then every insertion, compared by
/// the new ones: in between, all rows that are left have one sort key. No search ever mixes the two.
private struct StepBuilder {
  let view: ResultView
  var rows: [RowChange]
  let before: FullKeys?
  let after: FullKeys?
  var positions = PositionedChanges()
  /// Rows to take out if they are there, and rows to put in, as indices of `rows`.
  private var leaving: [Int] = []
  private var coming: [Int] = []

  init(view: ResultView, rows: [RowChange], before: FullKeys?, after: FullKeys?) {
    self.view = view
    self.rows = rows
    self.before = before
    self.after = after
  }

  /// Rows whose place is the same before and after are looked up: present, they are kept.
  mutating func sortOut() throws(StorageError) {
    for i in rows.indices {
      let row = rows[i]
      if let old = row.old, let new = row.new, old == new {
        let (position, isFound) = try view.find(old, before)
        if isFound {
          positions.kept.append(.init(old: position, new: position, row: i))
        } else {
          rows[i].old = nil
          coming.append(i)
        }
        continue
      }
      if row.old != nil { leaving.append(i) }
      if row.new != nil { coming.append(i) }
    }
    sort(&leaving) { $0.old }
    sort(&coming) { $0.new }
    if positions.kept.count > 1 { positions.kept.sort { $0.old < $1.old } }
  }

  private struct Placed {
    let place: OrderedRow
    let row: Int
  }

  private func sort(_ indices: inout [Int], by place: (RowChange) -> OrderedRow?) {
    guard indices.count > 1 else { return }
    var placed: [Placed] = []
    placed.reserveCapacity(indices.count)
    for i in indices { if let place = place(rows[i]) { placed.append(Placed(place: place, row: i)) } }
    placed.sort { $0.place < $1.place }
    indices = placed.map(\.row)
  }

  mutating func remove() throws(StorageError) {
    positions.removed.reserveCapacity(leaving.count)
    for i in leaving {
      guard let old = rows[i].old else { continue }
      if let position = try view.remove(old, before) {
        // The removals before this one were all at smaller positions.
        positions.removed.append(.init(position: position + positions.removed.count, row: i))
      } else {
        rows[i].old = nil
      }
    }
  }

  mutating func insert() throws(StorageError) {
    positions.inserted.reserveCapacity(coming.count)
    var places: [Int: Int] = [:]
    let hasPartners = !positions.removed.isEmpty
    for i in coming {
      guard let new = rows[i].new, let position = try view.insert(new, after) else { continue }
      // The insertions after this one are all at greater positions, so this is final.
      if hasPartners, rows[i].old != nil { places[i] = positions.inserted.count }
      positions.inserted.append(.init(position: position, row: i))
    }
    for j in positions.removed.indices { positions.removed[j].partner = places[positions.removed[j].row] ?? -1 }
  }

  /// New positions of the kept rows, from their old ones: one pass over the three lists.
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

  fileprivate func remove(_ row: OrderedRow, _ keys: FullKeys?) throws(StorageError) -> Int? {
    switch rows {
    case .keys(let view): return view.remove(row.key)
    case .sorted(let view):
      guard let keys else { return try view.remove(row.entry, NoTies()) }
      return try view.remove(row.entry, FullKeyTies(row, keys))
    }
  }

  fileprivate func insert(_ row: OrderedRow, _ keys: FullKeys?) throws(StorageError) -> Int? {
    switch rows {
    case .keys(let view): return view.insert(row.key)
    case .sorted(let view):
      guard let keys else { return try view.insert(row.entry, NoTies()) }
      return try view.insert(row.entry, FullKeyTies(row, keys))
    }
  }
}
