import StorageInterface
import StoreValues

// What tokens know without being notified. A skipped step is done to what they know as it was done to the view: a row that it
// took away, brought or moved is known to be gone, or where the step put it. Rows that wait to be reported still are,
// unless the step left nothing of that: one that came and that the step took away again was never there.

extension NetChanges {
  /// Adds a step that the tokens are not notified of: they know its result already. `keys` reads full sort keys as they were before
  /// the step; nil where prefixes say it all. O(k log n).
  ///
  /// With nothing pending, which is how it is when the changes before were delivered first, the base moves on. When reading
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

  /// Adds a step of which the tokens are notified of some rows alone, and of those that are pending: of the others they know the result
  /// already. O(k log n).
  package mutating func add(_ step: ViewStep, notifying notified: Set<Int64>, _ keys: FullKeys? = nil) throws(StorageError) {
    settle()
    let places = try placesInBase(step.rows, keys)
    for (change, place) in zip(step.rows, places) {
      if notified.contains(change.key) || rows[change.key] != nil { add(change) } else { skip(change, place) }
    }
    if rows.isEmpty { self = NetChanges(base: step.to) }
  }

  /// Where a row is in the base, and where a step would have put it there.
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
      // It has other values, if it is a row, and stands where it stood: what else waits to be reported of it still is.
      guard change.new != nil, pending.known != nil else { return }
      rows.values[i].marks = RowMarks()
      if pending.known == pending.last { rows.remove(at: i) }
      return
    }
    if pending.known == nil, change.new != nil {
      // It waits to be reported as new, and is so from its new place.
      rows.values[i].last = change.new
      return
    }
    rows.remove(at: i)
    know(change, inBase: pending.known, place)
  }

  /// The row is known to be where the step put it.
  private mutating func know(_ change: RowChange, inBase: OrderedRow?, _ place: PlaceInBase) {
    let inBase = if let earlier = skipped[change.key] { earlier.inBase } else { inBase }
    // Where it is back in its place, nothing was done to the base.
    skipped[change.key] =
      inBase == change.new
      ? nil : Skipped(inBase: inBase, position: place.position, after: change.new, rank: place.rank)
  }
}

// MARK: - What is known

extension NetChanges {
  /// The objects at some positions of what the tokens know, clamped: the base with what skipped steps did to it. O(log n +
  /// skipped rows), and a little for each key.
  package func knownKeys(in range: Range<Int>) -> [Int64] {
    if skipped.isEmpty { return base.keys(in: range) }
    let gone = skipped.values.filter { $0.inBase != nil }.map(\.position).sorted()
    let come = skipped.values.compactMap { row in row.after.map { (place: $0, rank: row.rank) } }.sorted {
      $0.place < $1.place
    }
    let range = range.clamped(to: 0..<base.count - gone.count + come.count)
    var keys: [Int64] = []
    keys.reserveCapacity(range.count)
    // The next row of the base, the next of each list, and how many rows were passed.
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
      // Rows of the base, up to the next that was put in or taken out.
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

  /// How many rows the tokens know.
  package var knownCount: Int {
    skipped.values.reduce(base.count) { $0 + ($1.after == nil ? 0 : 1) - ($1.inBase == nil ? 0 : 1) }
  }

  /// Those of some rows of now that are to be reported as modified, where they stay.
  package func modified(among keys: [Int64], _ filter: ModificationFilter) -> Set<Int64> {
    let settled = settled
    return Set(keys.filter { key in settled.rows[key].map { filter.wants($0.marks) } ?? false })
  }
}
