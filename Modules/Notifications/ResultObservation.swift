import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// One token's part of an observed result: the state it was given last, and the current offer. Safe from any thread.
package final class ResultObservation: Sendable {
  private struct Knowledge {
    /// The state given to the observer; nil before its first call.
    var known: KnownState?
    /// Its state once it has accepted the offer.
    var offered: KnownState?
    var serial: UInt64 = 0
    var version = Version(0)
    var offeredVersion = Version(0)
    /// The same for an observer of a total.
    var total: ResultTotal?
    var offeredTotal: ResultTotal?
    /// The authors of changes after `total`, and after `offeredTotal`.
    var sources = CommitSources()
    var sourcesSinceOffer = CommitSources()
    /// Why the result is no longer kept.
    var failure: StorageError?
    var ignoredAuthors: Set<String> = []
    /// Skipped commits have moved rows of the state given to the observer, and that was not queried yet.
    var isMoved = false
  }

  package let recipe: ResultRecipe
  package let filter: ResultFilter
  let place: DeliveryPlace
  private let knowledge = Mutex(Knowledge())
  private let ended = Atomic(false)

  init(_ recipe: ResultRecipe, _ filter: ResultFilter, _ place: DeliveryPlace) {
    self.recipe = recipe
    self.filter = filter
    self.place = place
  }

  /// The number of the observed file.
  package var file: UInt64 { place.file }

  /// Whether it was stopped, or notified of an error.
  package var isEnded: Bool { ended.load(ordering: .acquiring) }
  func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

  /// The authors whose commits are ignored.
  var ignoredAuthors: Set<String> { knowledge.withLock { $0.ignoredAuthors } }

  /// The storage version of the state given last.
  var version: Version { knowledge.withLock { $0.version } }
  var known: KnownState? { knowledge.withLock { $0.known } }
  var states: [KnownState] { knowledge.withLock { [$0.known, $0.offered].compactMap { $0 } } }

  /// Records an error, the only thing left to report.
  func fail(_ error: StorageError) { knowledge.withLock { $0.failure = $0.failure ?? error } }
  var failure: StorageError? { knowledge.withLock { $0.failure } }

  func offer(_ content: ResultOffer.Content, _ state: KnownState?, at version: Version) -> ResultOffer {
    knowledge.withLock { knowledge in
      knowledge.serial += 1
      knowledge.offered = state
      knowledge.offeredVersion = version
      return ResultOffer(content: content, observation: self, serial: knowledge.serial)
    }
  }

  /// Records that the observer knows the newest state, without being notified.
  func rebase(on state: KnownState, at version: Version) {
    knowledge.withLock { knowledge in
      knowledge.known = state
      knowledge.offered = nil
      knowledge.version = version
    }
  }

  /// Records that a skipped commit moved rows of the state given to the observer.
  func noteMove() { knowledge.withLock { $0.isMoved = true } }

  /// Whether skipped commits have moved rows of the state given to the observer since the last call. The observer must then
  /// update its own record of rows.
  package func takeMove() -> Bool {
    knowledge.withLock { knowledge in
      defer { knowledge.isMoved = false }
      return knowledge.isMoved
    }
  }

  /// Gives the token its own states, derived from the shared ones. If that throws, it keeps those.
  func separate(_ make: (KnownState) throws(StorageError) -> KnownState) throws(StorageError) {
    try knowledge.withLock { knowledge throws(StorageError) in
      let (known, offered) = (knowledge.known, knowledge.offered)
      let ownKnown = try known.map(make)
      let ownOffered = offered === known ? ownKnown : try offered.map(make)
      (knowledge.known, knowledge.offered) = (ownKnown, ownOffered)
    }
  }

  /// The offer for an observer of a total; nil if it knows the value.
  func offer(_ total: ResultTotal, at version: Version) -> ResultOffer? {
    knowledge.withLock { knowledge in
      if knowledge.total == total { return nil }
      knowledge.serial += 1
      knowledge.offeredTotal = total
      knowledge.offeredVersion = version
      knowledge.sourcesSinceOffer = CommitSources()
      let change = TotalChange(total: total, was: knowledge.total, from: knowledge.version, to: version, sources: knowledge.sources)
      return ResultOffer(content: .total(change), observation: self, serial: knowledge.serial)
    }
  }

  /// Notes commits that changed the total.
  func note(_ records: [CommitRecord], total: ResultTotal) {
    knowledge.withLock { knowledge in
      for record in records {
        knowledge.sources.add(record)
        knowledge.sourcesSinceOffer.add(record)
      }
      // Changes that cancelled out have no authors.
      if knowledge.total == total { knowledge.sources = CommitSources() }
      if knowledge.offeredTotal == total { knowledge.sourcesSinceOffer = CommitSources() }
    }
  }

  /// Skips a commit that changed the total: an observer that knew the old value now knows the new one.
  func skip(from old: ResultTotal, to new: ResultTotal) {
    knowledge.withLock { knowledge in
      if knowledge.total == old { knowledge.total = new }
      if knowledge.offeredTotal == old { knowledge.offeredTotal = new }
    }
  }

  fileprivate func accept(_ serial: UInt64) -> Bool {
    knowledge.withLock { knowledge in
      if knowledge.serial == serial, let total = knowledge.offeredTotal {
        knowledge.total = total
        knowledge.offeredTotal = nil
        knowledge.sources = knowledge.sourcesSinceOffer
        knowledge.version = knowledge.offeredVersion
        return true
      }
      guard knowledge.serial == serial, let offered = knowledge.offered else { return false }
      knowledge.known = offered
      knowledge.offered = nil
      knowledge.version = knowledge.offeredVersion
      return true
    }
  }
}

extension ResultObservation: AuthorIgnoring {
  func ignore(author: String) { knowledge.withLock { _ = $0.ignoredAuthors.insert(author) } }
}

/// The pending notification of one observer in a turn. Until it is accepted, the observer knows nothing of it: a later turn
/// that comes first reports both at once.
package struct ResultOffer: Sendable {
  package enum Content: Sendable {
    case initial
    case update(ResultChange)
    /// The total differs from the one the observer knows.
    case total(TotalChange)
    /// The result can no longer be kept. The last call.
    case failed(StorageError)
  }

  package let content: Content
  package var isFailure: Bool { if case .failed = content { true } else { false } }
  let observation: ResultObservation
  fileprivate let serial: UInt64

  /// Accepts the offer, right before the observer's block runs. False if a later one was accepted first, or the token was
  /// stopped: then the block must not run.
  package func accept() -> Bool {
    if case .failed = content { return observation.end() }
    return !observation.isEnded && observation.accept(serial)
  }
}

/// A total of a result, and how it changed since a token was notified.
package struct TotalChange: Sendable {
  package let total: ResultTotal
  /// The value that the token knew, by its last notification or by skipped commits. nil: none yet.
  package let was: ResultTotal?
  package let from: Version
  package let to: Version
  /// The authors of the changes.
  package let sources: CommitSources
}

/// A change of a result, from the state given to a token to the current version of its context.
package struct ResultChange: Sendable {
  package let changes: ChangeSet
  package let from: Version
  package let to: Version
  /// The authors of the changes.
  package let sources: CommitSources
  let result: ResultVersion
  let deletedRows: DeletedRows

  /// The objects at the deleted positions, in the order of `changes.deletions`; includes moved ones.
  package var deletedKeys: [Int64] { deletedRows.keys(ofDeletions: changes.deletions) }

  /// All rows that the observer knew, in order. O(rows).
  package var knownKeys: [Int64] {
    let now = result.keys(in: 0..<result.count)
    var known: [Int64] = []
    known.reserveCapacity(now.count)
    var gone = zip(changes.deletions, deletedKeys).makeIterator()
    var (nextGone, came) = (gone.next(), changes.insertions[...])
    for (position, key) in now.enumerated() {
      if came.first == position {
        came.removeFirst()
        continue
      }
      while let (old, lost) = nextGone, old == known.count {
        known.append(lost)
        nextGone = gone.next()
      }
      known.append(key)
    }
    while let (_, lost) = nextGone {
      known.append(lost)
      nextGone = gone.next()
    }
    return known
  }

  /// The objects at some positions of the new collection.
  package func keys(at positions: [Int]) -> [Int64] { positions.compactMap { result.key(at: $0) } }
}
