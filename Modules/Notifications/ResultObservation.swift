import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// One token's part of an observed result: what it was given last, and what it is offered now. Safe from any thread.
package final class ResultObservation: Sendable {
  private struct Knowledge {
    /// What the observer was given; nil before its first call.
    var known: KnownState?
    /// What it will know once it took the offer.
    var offered: KnownState?
    var serial: UInt64 = 0
    var version = Version(0)
    var offeredVersion = Version(0)
    /// The same of an observer that hears a total of the result.
    var total: ResultTotal?
    var offeredTotal: ResultTotal?
    /// Who wrote what came after `total`, and after `offeredTotal`.
    var sources = CommitSources()
    var sourcesSinceOffer = CommitSources()
    /// Why the result is kept no more.
    var failure: StorageError?
    var ignoredAuthors: Set<String> = []
    /// What the observer was given was moved by commits of which it is not notified, and nobody has asked for that yet.
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

  /// Which open file is observed.
  package var file: UInt64 { place.file }

  /// Whether it was stopped, or notified of an error.
  package var isEnded: Bool { ended.load(ordering: .acquiring) }
  func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whose commits it is not notified of.
  var ignoredAuthors: Set<String> { knowledge.withLock { $0.ignoredAuthors } }

  /// The storage version of what the observer was given last.
  var version: Version { knowledge.withLock { $0.version } }
  var known: KnownState? { knowledge.withLock { $0.known } }
  var states: [KnownState] { knowledge.withLock { [$0.known, $0.offered].compactMap { $0 } } }

  /// From now on there is nothing but an error to report.
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

  /// What changed is nothing to this observer: it knows the newest state.
  func rebase(on state: KnownState, at version: Version) {
    knowledge.withLock { knowledge in
      knowledge.known = state
      knowledge.offered = nil
      knowledge.version = version
    }
  }

  /// A commit of which the observer is not notified moved what it was given.
  func noteMove() { knowledge.withLock { $0.isMoved = true } }

  /// Whether commits of which the observer is not notified have moved what it was given since this was asked last. What it keeps of rows by
  /// itself is to follow.
  package func takeMove() -> Bool {
    knowledge.withLock { knowledge in
      defer { knowledge.isMoved = false }
      return knowledge.isMoved
    }
  }

  /// Gives the token states of its own, made from the shared ones. When that throws, it keeps those.
  func separate(_ make: (KnownState) throws(StorageError) -> KnownState) throws(StorageError) {
    try knowledge.withLock { knowledge throws(StorageError) in
      let (known, offered) = (knowledge.known, knowledge.offered)
      let ownKnown = try known.map(make)
      let ownOffered = offered === known ? ownKnown : try offered.map(make)
      (knowledge.known, knowledge.offered) = (ownKnown, ownOffered)
    }
  }

  /// What is reported to an observer of a total; nil: it knows.
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

  /// Commits made the total another one.
  func note(_ records: [CommitRecord], total: ResultTotal) {
    knowledge.withLock { knowledge in
      for record in records {
        knowledge.sources.add(record)
        knowledge.sourcesSinceOffer.add(record)
      }
      // What came to nothing is nobody's.
      if knowledge.total == total { knowledge.sources = CommitSources() }
      if knowledge.offeredTotal == total { knowledge.sourcesSinceOffer = CommitSources() }
    }
  }

  /// A commit led from one total to another of which the observer is not notified: it knows, if it knew the first.
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

/// What one observer is to be notified of in a turn. Until it is accepted, the observer knows nothing of it: a later turn
/// that comes first reports both at once.
package struct ResultOffer: Sendable {
  package enum Content: Sendable {
    case initial
    case update(ResultChange)
    /// A total of the result, which is another one than the observer knows.
    case total(TotalChange)
    /// The result cannot be kept any more. The last call.
    case failed(StorageError)
  }

  package let content: Content
  package var isFailure: Bool { if case .failed = content { true } else { false } }
  let observation: ResultObservation
  fileprivate let serial: UInt64

  /// Takes the offer, right before the observer's block runs. False when a later one was taken first, or the token was
  /// stopped: then there is nothing to say.
  package func accept() -> Bool {
    if case .failed = content { return observation.end() }
    return !observation.isEnded && observation.accept(serial)
  }
}

/// A total of a result, and how it came about since a token was notified.
package struct TotalChange: Sendable {
  package let total: ResultTotal
  /// What the token knew: what it was notified of last, or what a commit of which it is not notified has made of that. nil: nothing yet.
  package let was: ResultTotal?
  package let from: Version
  package let to: Version
  /// Who wrote what led to it.
  package let sources: CommitSources
}

/// A change of a result, from what a token was given to the version that its context has now.
package struct ResultChange: Sendable {
  package let changes: ChangeSet
  package let from: Version
  package let to: Version
  /// Who wrote what is in it.
  package let sources: CommitSources
  let result: ResultVersion
  let deletedRows: DeletedRows

  /// The objects that went, in the order of `changes.deletions`; moved ones included.
  package var deletedKeys: [Int64] { deletedRows.keys(ofDeletions: changes.deletions) }

  /// Every row that the observer knew, in order. O(rows).
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
