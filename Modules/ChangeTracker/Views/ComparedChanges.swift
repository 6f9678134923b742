import StorageInterface
import StoreValues

/// The changes of a compared result between what observers were given and now.
///
/// A value, confined to its owner.
package struct ComparedChanges: Sendable {
  /// The rows that the tokens know.
  package private(set) var base: [Int64]
  private var marks: [Int64: RowMarks] = [:]
  private var isMoved = false
  /// The objects touched by steps that brought, took or moved rows, as long as that waits to be reported: they explain why the
  /// rows of now stand otherwise than those that are known, also once a skipped step has set values of them.
  private var unsettled: Set<Int64> = []

  package init(base: [Int64]) { self.base = base }

  /// Whether certainly nothing is to be reported.
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

  /// A step marks every object of the type that a commit modified. What was no row for the tokens and is none now is reported to
  /// nobody, and should it become one, it is reported as new: of such objects no more is kept than there are rows, however long no
  /// call comes.
  private mutating func forgetStrangers(with rows: [Int64]) {
    guard marks.count + unsettled.count > 4 * (base.count + rows.count) + 64 else { return }
    var known = Set<Int64>(minimumCapacity: base.count + rows.count)
    for row in base { known.insert(RowIdentity.key(of: row)) }
    for row in rows { known.insert(RowIdentity.key(of: row)) }
    marks = marks.filter { known.contains($0.key) }
    unsettled.formIntersection(known)
  }

  /// How many objects it keeps marks of; for tests.
  package var markCount: Int { marks.count + unsettled.count }

  /// Adds a step that the tokens are not notified of. With changes pending it is done to what they know as it was done to the
  /// result: rows that it took away are taken from that, and rows that it brought or moved are put where it put them, among the
  /// rows that both know. What else waits to be reported still is.
  ///
  /// Costs what two change sets cost where the step brought, took or moved rows.
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
    // All that waited is taken back, or known by now.
    if base == step.new {
      unsettled = []
      if marks.isEmpty { isMoved = false }
    }
  }

  /// What is reported to a token: from what it knows to the rows of now. Where rows came, went or moved it costs what
  /// `ChangeSet.between` does.
  package func changeSet(to rows: [Int64], _ filter: ModificationFilter = .all) -> ChangeSet {
    let modified = Set(rows.filter { row in marks[RowIdentity.key(of: row)].map { filter.wants($0) } ?? false })
    return ChangeSet.compared(base, rows, modified: modified)
  }
}

extension ChangeSet {
  /// The change set between the rows of two states, which are told apart as `RowIdentity` does.
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

/// What tokens know after a step of which they are not notified, while others wait to be reported.
private struct SkippedOrder {
  /// The rows they know then.
  private(set) var known: [Int64] = []
  /// The objects of which the step brought, took or moved a row.
  private(set) var touched: Set<Int64> = []

  /// Which row of an older state is which of a newer one.
  private struct Rows {
    /// By the place in the newer state; nil for rows that came.
    var old: [Int?]
    /// Whether a row that is in both stands elsewhere among the others, by the place in the newer state.
    var isMoved: [Bool]
    /// Older places of rows that are gone.
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

    /// Nobody touched a row that stays among the others, as long as those that were touched explain the order.
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
    /// Where the row stands after the step, if it stands there for the tokens too; rows that were put somewhere stand before the
    /// next of these.
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
      // A row that waits to be reported as new is reported so wherever it is now.
      guard let row = before.old[old] else { continue }
      if after.isMoved[place] {
        rows[row] = nil
        put.append((place, key))
      } else if !before.isMoved[old] {
        rows[row]?.place = place
      }
    }
    // One that was known, had gone and came back with the step is in its new place alone, where an object is one row.
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
