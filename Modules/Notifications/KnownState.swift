import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// What some tokens of one result were given last, and what changed since: one for each distinct state, however many
/// tokens share it.
final class KnownState: @unchecked Sendable {
  // Sound because everything but the release is done by `KeptResult`, under the notifier's lock. The last reference may be
  // let go of on any thread: what is freed then are values, and view versions, which are released on any thread.
  enum Changes {
    case net(NetChanges)
    /// Of the whole result, of which the tokens know the rows at some positions.
    case window(NetChanges, Range<Int>)
    case compared(ComparedChanges)
  }

  private(set) var changes: Changes
  /// Who wrote what is pending.
  private(set) var sources = CommitSources()
  /// Positions computed for an observer, for the next one that asks at the same version.
  private var found: (version: Version, positions: NetPositions)?

  init(_ changes: Changes) { self.changes = changes }

  /// The same again, for tokens that go another way from here.
  private func copy() -> KnownState {
    let copy = KnownState(changes)
    copy.sources = sources
    return copy
  }

  /// For a token that is not told of a step. `keys` reads full sort keys as they were before it.
  func copy(skipping step: ResultStep, _ keys: FullKeys?) throws(StorageError) -> KnownState {
    let own = copy()
    try own.skip(step, keys)
    return own
  }

  /// For a token that is told of some of a step's rows alone, and of those that wait to be told already; nil: of all.
  func copy(
    adding step: ResultStep, telling rows: Set<Int64>?, _ keys: FullKeys?, by records: [CommitRecord]
  ) throws(StorageError) -> KnownState {
    let own = copy()
    switch (own.changes, step, rows) {
    case (.net(var net), .rows(let step), let rows?):
      own.found = nil
      try net.add(step, telling: rows, keys)
      own.changes = .net(net)
      own.note(records)
    case (.window(var net, let window), .window(let step, _), let rows?):
      try net.add(step, telling: rows, keys)
      own.changes = .window(net, window)
      own.note(records)
    default:
      if rows?.isEmpty == true, own.isEmpty { try own.skip(step, keys) } else { own.add(step, by: records) }
    }
    return own
  }

  var isEmpty: Bool {
    switch changes {
    case .net(let net), .window(let net, _): net.isEmpty
    case .compared(let compared): compared.isEmpty
    }
  }

  func add(_ step: ResultStep, by records: [CommitRecord]) {
    found = nil
    switch (changes, step) {
    case (.net(var net), .rows(let step)):
      // Taken out, so that it is edited in place.
      changes = .compared(ComparedChanges(base: []))
      net.add(step)
      changes = .net(net)
    case (.window(var net, let window), .window(let step, _)):
      changes = .compared(ComparedChanges(base: []))
      net.add(step)
      changes = .window(net, window)
    case (.compared(var compared), .rows(let step)), (.compared(var compared), .window(let step, _)):
      compared.add(ComparedStep(old: [], new: [0], marks: step.marks))
      changes = .compared(compared)
    case (.compared(var compared), .whole(let step)):
      changes = .compared(ComparedChanges(base: []))
      compared.add(step)
      changes = .compared(compared)
    default: break  // steps are of the kind that the result is
    }
    note(records)
  }

  /// What happened to objects that are no rows, and may come back.
  func note(outside marks: [Int64: RowMarks]) {
    found = nil
    switch changes {
    case .net(var net):
      changes = .compared(ComparedChanges(base: []))
      net.note(outside: marks)
      changes = .net(net)
    case .window(var net, let window):
      changes = .compared(ComparedChanges(base: []))
      net.note(outside: marks)
      changes = .window(net, window)
    case .compared(var compared):
      compared.add(ComparedStep(old: [], new: [], marks: marks))
      changes = .compared(compared)
    }
  }

  private func skip(_ step: ResultStep, _ keys: FullKeys?) throws(StorageError) {
    found = nil
    switch (changes, step) {
    case (.net(var net), .rows(let step)):
      try net.skip(step, keys)
      changes = .net(net)
    case (.window(var net, let window), .window(let step, _)):
      try net.skip(step, keys)
      changes = .window(net, window)
    case (.compared(var compared), .whole(let step)):
      compared.skip(step)
      changes = .compared(compared)
    case (.compared(var compared), .rows(let step)):
      compared.skip(ComparedStep(old: step.from.allKeys, new: step.to.allKeys, marks: step.marks))
      changes = .compared(compared)
    case (.compared(var compared), .window(let step, let window)):
      compared.skip(
        ComparedStep(old: step.from.keys(in: window), new: step.to.keys(in: window), marks: step.marks))
      changes = .compared(compared)
    default: break
    }
  }

  /// The view was made anew: from here on both states are compared whole.
  func lose(_ marks: [Int64: RowMarks], by records: [CommitRecord]) {
    found = nil
    switch changes {
    case .net(let net): compare(net, 0..<net.knownCount)
    case .window(let net, let window): compare(net, window)
    case .compared: break
    }
    if case .compared(var compared) = changes {
      compared.add(ComparedStep(old: [], new: [0], marks: marks))
      changes = .compared(compared)
    }
    note(records)
  }

  private func compare(_ net: NetChanges, _ range: Range<Int>) {
    var compared = ComparedChanges(base: net.knownKeys(in: range))
    compared.add(ComparedStep(old: [], new: [0], marks: net.pendingMarks))
    changes = .compared(compared)
  }

  private func note(_ records: [CommitRecord]) {
    if isEmpty {
      sources = CommitSources()
      return
    }
    for record in records { sources.add(record) }
  }

  /// What a token is told that knows this.
  func changeSet(
    to current: ResultVersion, at version: Version, _ keys: FullKeys?, _ filter: ModificationFilter
  ) throws(StorageError) -> (changes: ChangeSet, deleted: DeletedRows) {
    switch changes {
    case .net(let net):
      guard case .view(let view) = current else { return (ChangeSet(), .none) }
      if found?.version != version { found = (version, try net.netPositions(to: view, keys)) }
      guard let positions = found?.positions else { return (ChangeSet(), .none) }
      return (positions.changeSet(filter), .positions(positions))
    case .window(let net, let window):
      let (known, rows) = (net.knownKeys(in: window), current.allRows)
      return (ChangeSet.compared(known, rows, modified: net.modified(among: rows, filter)), .base(known))
    case .compared(let compared):
      return (compared.changeSet(to: current.allRows, filter), .base(compared.base))
    }
  }
}

/// Knows which objects stood at deleted positions.
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

/// One step of a result, by the way it is kept.
enum ResultStep {
  case rows(ViewStep)
  /// Of the whole result, of which the rows at some positions are told.
  case window(ViewStep, Range<Int>)
  case whole(ComparedStep)
}

extension ViewStep {
  fileprivate var marks: [Int64: RowMarks] { Dictionary(rows.map { ($0.key, $0.marks) }) { a, _ in a } }
}
