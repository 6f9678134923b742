import ChangeTracker
import StorageInterface
import StoreValues

/// The changes of a result since tokens were given it: one type for each way of keeping a result.
///
/// A value, in a `KnownState`. Ignores steps of another kind; a result that is rebuilt in another way turns its pending changes
/// into `ComparedChanges`, which accepts every kind.
protocol PendingResult {
  /// Whether certainly nothing is pending.
  var isEmpty: Bool { get }

  /// Adds a step that the tokens are notified of.
  mutating func add(_ step: ResultStep)

  /// Adds a step of which the tokens are notified of only the rows `notified`, and of those already pending. Returns false,
  /// having done nothing, if rows are not distinguished. `keys` reads full sort keys from before the step.
  mutating func add(_ step: ResultStep, notifying notified: Set<Int64>, _ keys: FullKeys?) throws(StorageError) -> Bool

  /// Adds a step that the tokens are not notified of: they know its result.
  mutating func skip(_ step: ResultStep, _ keys: FullKeys?) throws(StorageError)

  /// Notes changes of objects that are not rows, but may come back.
  mutating func note(outside marks: [Int64: RowMarks])

  /// The same changes in the form in which the two states are compared as a whole.
  var compared: ComparedChanges { get }

  /// The change set for the tokens at a version. `keys` reads full sort keys of that version.
  mutating func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows)
}

/// A step of a result, by the way it is kept.
enum ResultStep {
  case rows(ViewStep)
  /// A step of the whole result, of which only the rows at some positions are reported.
  case window(ViewStep, Range<Int>)
  case whole(ComparedStep)
}

/// Identifies the objects at deleted positions.
enum DeletedRows: Sendable {
  case none
  case positions(NetPositions)
  case base([Int64])

  func keys(ofDeletions deletions: [Int]) -> [Int64] {
    switch self {
    case .none: []
    case .positions(let positions): positions.keys(ofDeletions: deletions)
    case .base(let rows): deletions.map { RowIdentity.key(of: rows[$0]) }
    }
  }
}

// MARK: - Row by row

/// The pending changes of a result that is kept row by row.
struct NetResult: PendingResult {
  private var net: NetChanges
  /// Positions computed for one observer, reused for others at the same version.
  private var found: (version: Version, positions: NetPositions)?

  init(_ net: NetChanges) { self.net = net }

  var isEmpty: Bool { net.isEmpty }
  var compared: ComparedChanges { net.compared(0..<net.knownCount) }

  mutating func add(_ step: ResultStep) {
    found = nil
    if case .rows(let step) = step { net.add(step) }
  }

  mutating func add(_ step: ResultStep, notifying notified: Set<Int64>, _ keys: FullKeys?) throws(StorageError) -> Bool {
    guard case .rows(let step) = step else { return false }
    found = nil
    try net.add(step, notifying: notified, keys)
    return true
  }

  mutating func skip(_ step: ResultStep, _ keys: FullKeys?) throws(StorageError) {
    found = nil
    if case .rows(let step) = step { try net.skip(step, keys) }
  }

  mutating func note(outside marks: [Int64: RowMarks]) {
    found = nil
    net.note(outside: marks)
  }

  mutating func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows) {
    guard case .view(let view) = current else { return (ChangeSet(), .none) }
    if let found, found.version == version { return (found.positions.changeSet(filter), .positions(found.positions)) }
    let positions = try net.netPositions(to: view, keys)
    found = (version, positions)
    return (positions.changeSet(filter), .positions(positions))
  }
}

/// The pending changes of the whole result, of which the tokens know the rows at some positions.
struct WindowedResult: PendingResult {
  private var net: NetChanges
  private let window: Range<Int>

  init(_ net: NetChanges, _ window: Range<Int>) { (self.net, self.window) = (net, window) }

  var isEmpty: Bool { net.isEmpty }
  var compared: ComparedChanges { net.compared(window) }

  mutating func add(_ step: ResultStep) { if case .window(let step, _) = step { net.add(step) } }

  mutating func add(_ step: ResultStep, notifying notified: Set<Int64>, _ keys: FullKeys?) throws(StorageError) -> Bool {
    guard case .window(let step, _) = step else { return false }
    try net.add(step, notifying: notified, keys)
    return true
  }

  mutating func skip(_ step: ResultStep, _ keys: FullKeys?) throws(StorageError) {
    if case .window(let step, _) = step { try net.skip(step, keys) }
  }

  mutating func note(outside marks: [Int64: RowMarks]) { net.note(outside: marks) }

  mutating func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows) {
    let (known, rows) = (net.knownKeys(in: window), current.allRows)
    return (ChangeSet.compared(known, rows, modified: net.modified(among: rows, filter)), .base(known))
  }
}

extension NetChanges {
  fileprivate func compared(_ range: Range<Int>) -> ComparedChanges {
    var compared = ComparedChanges(base: knownKeys(in: range))
    compared.add(ComparedStep(old: [], new: [0], marks: pendingMarks))
    return compared
  }
}

// MARK: - Compared

extension ComparedChanges: PendingResult {
  var compared: ComparedChanges { self }

  mutating func add(_ step: ResultStep) {
    switch step {
    case .rows(let step), .window(let step, _): add(ComparedStep(old: [], new: [0], marks: step.marks))
    case .whole(let step): add(step)
    }
  }

  mutating func add(_ step: ResultStep, notifying notified: Set<Int64>, _ keys: FullKeys?) throws(StorageError) -> Bool { false }

  mutating func skip(_ step: ResultStep, _ keys: FullKeys?) throws(StorageError) {
    switch step {
    case .rows(let step): skip(ComparedStep(old: step.from.allKeys, new: step.to.allKeys, marks: step.marks))
    case .window(let step, let window):
      skip(ComparedStep(old: step.from.keys(in: window), new: step.to.keys(in: window), marks: step.marks))
    case .whole(let step): skip(step)
    }
  }

  mutating func note(outside marks: [Int64: RowMarks]) { add(ComparedStep(old: [], new: [], marks: marks)) }

  mutating func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows) {
    (changeSet(to: current.allRows, filter), .base(base))
  }
}

extension ViewStep {
  fileprivate var marks: [Int64: RowMarks] { Dictionary(rows.map { ($0.key, $0.marks) }) { a, _ in a } }
}
