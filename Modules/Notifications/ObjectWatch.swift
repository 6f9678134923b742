import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// One token's observation of an object, or of a list, set or map of one: what was touched since its observer was last notified. Safe from
/// any thread.
///
/// What it collects says where to look. The observer compares values, so that what came to nothing is not reported.
package final class ObjectWatch: Sendable {
  /// What is observed of the object.
  package enum Subject: Sendable {
    /// Its own properties, and what lies at the end of paths.
    case properties(ResultFilter)
    /// One of its lists, sets or maps, with the changes of the elements that lead to objects.
    case collection(PropertyID, elements: ResultFilter?, of: TableID)
  }

  /// What was touched.
  struct Marks: Sendable {
    var properties = PropertySet()
    /// The first properties of paths at whose end something was touched.
    var leading = PropertySet()
    var lists: [PropertyID: NetListChanges] = [:]
    /// Of sets and maps.
    var members: [PropertyID: NetMemberChanges] = [:]
    var isDeleted = false
    /// Commits are missing in between: elements of now are not known to be those of before.
    var isLost = false
    /// What the observer knows by itself: the values that commits set of which it is not notified.
    var known: [PropertyID: Value] = [:]
    /// Who did that, as far as the commits are known.
    var sources = CommitSources()

    var isEmpty: Bool { properties.isEmpty && leading.isEmpty && !isDeleted }
  }

  struct State {
    /// Since the observer was last notified, and since what it is offered now.
    var pending = Marks()
    var fresh: Marks?
    /// The version up to which everything was noted.
    var version: Version
    /// The version that the observer was notified of last, and the one it is offered.
    var notifiedVersion: Version
    var offeredVersion: Version
    var serial: UInt64 = 0
    var awaitsFirst: Bool
    var failure: StorageError?
    var ignoredAuthors: Set<String> = []
  }

  private static let begun = Atomic<UInt64>(0)

  /// Ascends with the order in which watches begin.
  package let number: UInt64
  package let table: TableID
  private let observedKey: Atomic<Int64>
  package let subject: Subject
  let place: DeliveryPlace
  /// Of an object with a primary key: where it is found.
  let identity: (index: IndexID, value: Value)?
  let state: Mutex<State>
  private let ended = Atomic(false)

  /// - Parameter version: what the observer knows: every later commit counts.
  /// - Parameter lists: the lists that are observed, as they are in that version.
  /// - Parameter members: the sets and maps.
  /// - Parameter identity: the primary key, by which an object that is deleted and made again stays the same.
  package init(
    _ subject: Subject, table: TableID, key: ObjectKey, at version: Version, lists: [PropertyID: NetListChanges],
    members: [PropertyID: NetMemberChanges], identity: (index: IndexID, value: Value)? = nil, _ place: DeliveryPlace
  ) {
    number = ObjectWatch.begun.wrappingAdd(1, ordering: .relaxed).newValue
    self.subject = subject
    self.table = table
    observedKey = Atomic(key.rawValue)
    self.place = place
    self.identity = identity
    var state = State(version: version, notifiedVersion: version, offeredVersion: version, awaitsFirst: false)
    state.pending.lists = lists
    state.pending.members = members
    if case .collection = subject { state.awaitsFirst = true }
    self.state = Mutex(state)
  }

  /// The object. Another one once the first was deleted and one with the same primary key took its place.
  package var key: ObjectKey { ObjectKey(observedKey.load(ordering: .acquiring)) }

  /// Observes another object from now on, which took the place of the first.
  func follow(_ key: ObjectKey) { observedKey.store(key.rawValue, ordering: .releasing) }

  /// Which open file is observed.
  package var file: UInt64 { place.file }

  /// Whether it was stopped, or had its last call.
  package var isEnded: Bool { ended.load(ordering: .acquiring) }
  func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whether something further away than the object's own properties counts.
  var isDeep: Bool {
    switch subject {
    case .properties(let filter): !filter.paths.isEmpty || !filter.others.isEmpty
    case .collection(_, let elements, _): elements != nil
    }
  }

  func fail(_ error: StorageError) { state.withLock { $0.failure = $0.failure ?? error } }
}

extension ObjectWatch: AuthorIgnoring {
  package func ignore(author: String) { state.withLock { _ = $0.ignoredAuthors.insert(author) } }

  /// Whether all commits that may have touched it are by somebody of whom it is not notified.
  func ignoresAll(of records: [CommitRecord]) -> Bool {
    let ignored = state.withLock { $0.ignoredAuthors }
    return !ignored.isEmpty
      && records.allSatisfy { record in
        record.author.map(ignored.contains) ?? false || !(isDeep || record.tables.contains { $0.table == table })
      }
  }
}
