import StorageInterface
import StoreValues

// The state that tokens know without having been notified. A skipped step is applied to it as it was to the view: rows that it
// removed, inserted or moved are known to be removed, or in their new place. Pending rows stay pending, unless the step cancels
// them: a row inserted before and removed by the step is forgotten.

extension NetChanges {
  /// Adds a step that the tokens are not notified of, because they know its result. `keys` reads full sort keys as of before
  /// the step; nil if prefixes suffice. O(k log n).
  ///
  /// With nothing pending, which is the case if earlier changes were delivered first, only the base advances. If reading
  /// throws, nothing was added.
  package mutating func skip(_ step: ViewStep, _ keys: FullKeys? = nil) throws(StorageError) {
    settle()
    if rows.isEmpty {
      self = NetChanges(base: step.to)
      return
    }
    let places = try placesInBase(step.rows, keys)
    for (change, place) in zip(step.rows, places) { skip(change, place) }
    if rows.isEmpty { self = NetChanges(base: step.to) }
  }

  /// Adds a step of which the tokens are notified of only some rows, and of those already pending; they know the result for the
  /// others. O(k log n).
  package mutating func add(_ step: ViewStep, notifying notified: Set<Int64>, _ keys: FullKeys? = nil) throws(StorageError) {
    settle()
    let places = try placesInBase(step.rows, keys)
    for (change, place) in zip(step.rows, places) {
      if notified.contains(change.key) || rows[change.key] != nil { add(change) } else { skip(change, place) }
    }
    if rows.isEmpty { self = NetChanges(base: step.to) }
  }

  /// A row's position in the base, and the position at which a step would have put it there.
  private struct PlaceInBase {
    var position = 0
    var rank = 0
  }

  private func placesInBase(_ changes: [RowChange], _ keys: FullKeys?) throws(StorageError) -> [PlaceInBase] {
    let keys = keys?.overridden { sortKeyInBase($0) }
    var places: [PlaceInBase] = []
    places.reserveCapacity(changes.count)
    for change in changes {
      var place = PlaceInBase()
      if change.old != change.new {
        let pending = rows[change.key]
        let inBase = if let earlier = skipped[change.key] { earlier.inBase } else { pending.map(\.known) ?? change.old }
        if let inBase { place.position = try base.rank(of: inBase, keys).position }
        if let after = change.new { place.rank = try base.rank(of: after, keys).position }
      }
      places.append(place)
    }
    return places
  }

  private mutating func skip(_ change: RowChange, _ place: PlaceInBase) {
    guard let i = rows.index(forKey: change.key) else {
      if change.old != change.new { know(change, inBase: change.old, place) }
      return
    }
    let pending = rows.values[i]
    guard change.old != change.new else {
      // The row, if it is one, has changed values and did not move: its other pending changes stay pending.
      guard change.new != nil, pending.known != nil else { return }
      rows.values[i].marks = RowMarks()
      if pending.known == pending.last { rows.remove(at: i) }
      return
    }
    if pending.known == nil, change.new != nil {
      // The insertion is still pending, now at the new place.
      rows.values[i].last = change.new
      return
    }
    rows.remove(at: i)
    know(change, inBase: pending.known, place)
  }

  /// Records that the tokens know the row where the step put it.
  private mutating func know(_ change: RowChange, inBase: OrderedRow?, _ place: PlaceInBase) {
    let inBase = if let earlier = skipped[change.key] { earlier.inBase } else { inBase }
    // A row back in its place leaves the base unchanged.
    skipped[change.key] =
      inBase == change.new
      ? nil : Skipped(inBase: inBase, position: place.position, after: change.new, rank: place.rank)
  }
}

// MARK: - What is known

extension NetChanges {
  /// The objects at some positions of the state that the tokens know, clamped: the base with the skipped steps applied. O(log n
  /// + skipped rows), plus a little per key.
  package func knownKeys(in range: Range<Int>) -> [Int64] {
    if skipped.isEmpty { return base.keys(in: range) }
    let gone = skipped.values.filter { $0.inBase != nil }.map(\.position).sorted()
    let come = skipped.values.compactMap { row in row.after.map { (place: $0, rank: row.rank) } }.sorted {
      $0.place < $1.place
    }
    let range = range.clamped(to: 0..<base.count - gone.count + come.count)
    var keys: [Int64] = []
    keys.reserveCapacity(range.count)
    // The next base row, the next of each list, and the number of rows passed.
    var (next, nextGone, nextCome, passed) = (0, 0, 0, 0)
    while passed < range.upperBound {
      if nextGone < gone.count, gone[nextGone] == next, nextCome >= come.count || come[nextCome].rank > next {
        (next, nextGone) = (next + 1, nextGone + 1)
        continue
      }
      if nextCome < come.count, come[nextCome].rank <= next {
        if passed >= range.lowerBound { keys.append(come[nextCome].place.key) }
        (nextCome, passed) = (nextCome + 1, passed + 1)
        continue
      }
      // Base rows up to the next inserted or removed one.
      let goneAt = nextGone < gone.count ? gone[nextGone] : base.count
      let comeAt = nextCome < come.count ? come[nextCome].rank : base.count
      let run = min(min(goneAt, comeAt) - next, range.upperBound - passed)
      if run <= 0 { break }
      let skippedRun = min(max(0, range.lowerBound - passed), run)
      if skippedRun < run { keys += base.keys(in: next + skippedRun..<next + run) }
      (next, passed) = (next + run, passed + run)
    }
    return keys
  }

  /// The number of rows that the tokens know.
  package var knownCount: Int {
    skipped.values.reduce(base.count) { $0 + ($1.after == nil ? 0 : 1) - ($1.inBase == nil ? 0 : 1) }
  }

  /// Those of the given current rows that are reported as modified if they stay.
  package func modified(among keys: [Int64], _ filter: ModificationFilter) -> Set<Int64> {
    let settled = settled
    return Set(keys.filter { key in settled.rows[key].map { filter.wants($0.marks) } ?? false })
  }
}
