import ChangeTracker
import Storage
import Synchronization
import Values

/// What some tokens of one result were given last, and what changed since: one for each distinct state, however many
/// tokens share it.
final class KnownState: @unchecked Sendable {
  // Sound because everything but the release is done by `KeptResult`, under the notifier's lock. The last reference may be
  // let go of on any thread: what is freed then are values, and view versions, which are released on any thread.
  enum Changes {
    case net(NetChanges)
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

  /// For a token that is not told of a step.
  func copy(skipping step: ResultStep) -> KnownState {
    let own = copy()
    own.skip(step)
    return own
  }

  /// For a token that is told of some of a step's rows alone, and of those that wait to be told already; nil: of all.
  func copy(adding step: ResultStep, telling rows: Set<Int64>?, by records: [CommitRecord]) -> KnownState {
    let own = copy()
    if case .net(var net) = own.changes, case .rows(let step) = step, let rows {
      own.found = nil
      net.add(step, telling: rows)
      own.changes = .net(net)
      own.note(records)
    } else if rows?.isEmpty == true, own.isEmpty {
      own.skip(step)
    } else {
      own.add(step, by: records)
    }
    return own
  }

  var isEmpty: Bool {
    switch changes {
    case .net(let net): net.isEmpty
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
    case (.compared(var compared), .rows(let step)):
      compared.add(ComparedStep(old: [], new: [0], marks: step.marks))
      changes = .compared(compared)
    case (.compared(var compared), .whole(let step)):
      changes = .compared(ComparedChanges(base: []))
      compared.add(step)
      changes = .compared(compared)
    case (.net, .whole): break  // a view's steps are rows
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
    case .compared(var compared):
      compared.add(ComparedStep(old: [], new: [], marks: marks))
      changes = .compared(compared)
    }
  }

  func skip(_ step: ResultStep) {
    found = nil
    switch (changes, step) {
    case (.net(var net), .rows(let step)):
      net.skip(step)
      changes = .net(net)
    case (.compared(var compared), .whole(let step)):
      compared.skip(step)
      changes = .compared(compared)
    case (.compared(var compared), .rows(let step)):
      compared.skip(ComparedStep(old: step.from.allKeys, new: step.to.allKeys, marks: step.marks))
      changes = .compared(compared)
    case (.net, .whole): break
    }
  }

  /// The view was made anew: from here on both states are compared whole.
  func lose(_ marks: [Int64: RowMarks], by records: [CommitRecord]) {
    found = nil
    if case .net(let net) = changes {
      var compared = ComparedChanges(base: net.base.allKeys)
      compared.add(ComparedStep(old: [], new: [0], marks: net.pendingMarks))
      changes = .compared(compared)
    }
    if case .compared(var compared) = changes {
      compared.add(ComparedStep(old: [], new: [0], marks: marks))
      changes = .compared(compared)
    }
    note(records)
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
  case whole(ComparedStep)
}

extension ViewStep {
  fileprivate var marks: [Int64: RowMarks] { Dictionary(rows.map { ($0.key, $0.marks) }) { a, _ in a } }
}
