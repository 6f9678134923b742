import StorageInterface
import StoreValues

/// The changes of a compared result between the state given to observers and the current one.
///
/// A value, confined to its owner.
package struct ComparedChanges: Sendable {
  /// The rows that the tokens know.
  package private(set) var base: [Int64]
  private var marks: [Int64: RowMarks] = [:]
  private var isMoved = false
  /// The objects touched by steps that inserted, removed or moved rows, while these are pending: they explain why the current
  /// order differs from the known one, even after a skipped step has set their values.
  private var unsettled: Set<Int64> = []

  package init(base: [Int64]) { self.base = base }

  /// Whether certainly nothing is pending.
  package var isEmpty: Bool { marks.isEmpty && !isMoved }

  package mutating func add(_ step: ComparedStep) {
    if step.old != step.new {
      isMoved = true
      unsettled.formUnion(step.marks.keys)
    }
    marks.merge(step.marks) { a, b in
      var both = a
      both.formUnion(b)
      return both
    }
    forgetStrangers(with: step.new)
  }

  /// Drops marks of objects that are rows for neither side. A step marks every modified object of the type; one that the tokens
  /// do not know and that is no row now is not reported, and if it becomes a row it is reported as inserted. This limits the
  /// marks to a multiple of the rows, however long no notification is delivered.
  private mutating func forgetStrangers(with rows: [Int64]) {
    guard marks.count + unsettled.count > 4 * (base.count + rows.count) + 64 else { return }
    var known = Set<Int64>(minimumCapacity: base.count + rows.count)
    for row in base { known.insert(RowIdentity.key(of: row)) }
    for row in rows { known.insert(RowIdentity.key(of: row)) }
    marks = marks.filter { known.contains($0.key) }
    unsettled.formIntersection(known)
  }

  /// The number of objects with marks; for tests.
  package var markCount: Int { marks.count + unsettled.count }

  /// Adds a step that the tokens are not notified of. With changes pending, it is applied to the known rows as it was to the
  /// result: rows that it removed are removed, and rows that it inserted or moved are put in their new place among the rows in
  /// both. Other pending changes stay pending.
  ///
  /// Costs two change sets if the step inserted, removed or moved rows.
  package mutating func skip(_ step: ComparedStep) {
    if isEmpty {
      base = step.new
      return
    }
    for key in step.marks.keys { marks[key] = nil }
    if step.old != step.new {
      let skip = SkippedOrder(base, step, waiting: unsettled)
      for key in skip.touched { marks[key] = nil }
      unsettled.subtract(skip.touched)
      base = skip.known
    }
    // All pending moves are reverted or known by now.
    if base == step.new {
      unsettled = []
      if marks.isEmpty { isMoved = false }
    }
  }

  /// The change set for a token: from the rows it knows to the current ones. If rows were inserted, removed or moved, it costs
  /// `ChangeSet.between`.
  package func changeSet(to rows: [Int64], _ filter: ModificationFilter = .all) -> ChangeSet {
    let modified = Set(rows.filter { row in marks[RowIdentity.key(of: row)].map { filter.wants($0) } ?? false })
    return ChangeSet.compared(base, rows, modified: modified)
  }
}

extension ChangeSet {
  /// The change set between the rows of two states, identified as by `RowIdentity`.
  package static func compared(_ old: [Int64], _ new: [Int64], modified: Set<Int64>) -> ChangeSet {
    if old == new {
      let positions = modified.isEmpty ? [] : new.indices.filter { modified.contains(new[$0]) }
      return ChangeSet(modifications: positions, modificationsInNew: positions)
    }
    guard RowIdentity.hasRepeats(old) || RowIdentity.hasRepeats(new) else {
      return between(old, new, modified: modified)
    }
    return between(
      repeating: old.map { RowIdentity.key(of: $0) }, new.map { RowIdentity.key(of: $0) },
      modified: Set(modified.map { RowIdentity.key(of: $0) }))
  }
}

/// The rows that tokens know after a step that they are not notified of, while other changes are pending.
private struct SkippedOrder {
  /// The rows they know then.
  private(set) var known: [Int64] = []
  /// The objects of which the step inserted, removed or moved a row.
  private(set) var touched: Set<Int64> = []

  /// The correspondence of rows between an older and a newer state.
  private struct Rows {
    /// The older position by the newer one; nil for inserted rows.
    var old: [Int?]
    /// Whether a row in both states moved among the others, by the newer position.
    var isMoved: [Bool]
    /// Older positions of removed rows.
    var gone: [Int] = []

    init(_ old: [Int64], _ new: [Int64], touched: Set<Int64>) {
      let changes = Rows.changes(old, new, touched)
      self.old = Array(repeating: nil, count: new.count)
      isMoved = Array(repeating: false, count: new.count)
      for move in changes.moves {
        self.old[move.to] = move.from
        isMoved[move.to] = true
      }
      let (insertions, moves) = (Set(changes.insertions), Set(changes.moves.map(\.from)))
      let deletions = Set(changes.deletions)
      gone = changes.deletions.filter { !moves.contains($0) }
      let stays = zip(
        old.indices.lazy.filter { !deletions.contains($0) }, new.indices.lazy.filter { !insertions.contains($0) })
      for (from, to) in stays { self.old[to] = from }
    }

    /// Untouched rows stay, as long as the touched ones explain the order.
    private static func changes(_ old: [Int64], _ new: [Int64], _ touched: Set<Int64>) -> ChangeSet {
      let modified = Set(old.filter { touched.contains(RowIdentity.key(of: $0)) })
      if !RowIdentity.hasRepeats(old), !RowIdentity.hasRepeats(new) {
        let (inOld, inNew) = (Set(old), Set(new))
        let others = old.lazy.filter { inNew.contains($0) && !touched.contains($0) }
        if others.elementsEqual(new.lazy.filter { inOld.contains($0) && !touched.contains($0) }) {
          return .between(old, new, candidates: modified, modified: modified)
        }
      }
      return .compared(old, new, modified: modified)
    }
  }

  private struct Row {
    var key: Int64
    /// The row's position after the step, if the tokens know it there; rows that were put somewhere stand before the next of
    /// these.
    var place: Int?
  }

  init(_ base: [Int64], _ step: ComparedStep, waiting: Set<Int64>) {
    let before = Rows(base, step.old, touched: waiting)
    let after = Rows(step.old, step.new, touched: Set(step.marks.keys))
    var rows: [Row?] = base.map { Row(key: RowIdentity.key(of: $0)) }
    var put: [(place: Int, key: Int64)] = []
    for old in after.gone {
      touched.insert(RowIdentity.key(of: step.old[old]))
      if let row = before.old[old] { rows[row] = nil }
    }
    for place in step.new.indices {
      let key = RowIdentity.key(of: step.new[place])
      guard let old = after.old[place] else {
        touched.insert(key)
        put.append((place, key))
        continue
      }
      if after.isMoved[place] { touched.insert(key) }
      // A pending insertion is reported at the row's current place.
      guard let row = before.old[old] else { continue }
      if after.isMoved[place] {
        rows[row] = nil
        put.append((place, key))
      } else if !before.isMoved[old] {
        rows[row]?.place = place
      }
    }
    // Without repeated objects, a known row that was removed and comes back with the step is only in its new place.
    let isRepeating = [base, step.old, step.new].contains { RowIdentity.hasRepeats($0) }
    let back = isRepeating ? [] : Set(put.map(\.key))
    var next = put[...]
    var keys: [Int64] = []
    keys.reserveCapacity(base.count + put.count)
    for case let row? in rows {
      if let place = row.place {
        while let first = next.first, first.place < place { keys.append(next.removeFirst().key) }
      }
      if !back.contains(row.key) { keys.append(row.key) }
    }
    known = RowIdentity.rows(of: keys + next.map(\.key))
  }
}
