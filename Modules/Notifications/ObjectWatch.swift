import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

/// One token's observation of an object, or of one of its collections: the parts touched since its observer was last notified.
/// Safe from any thread.
///
/// The marks tell where to look. The observer compares values, so changes that cancel out are not reported.
package final class ObjectWatch: Sendable {
  /// The observed part of the object.
  package enum Subject: Sendable {
    /// Its own properties, and those at the end of paths.
    case properties(ResultFilter)
    /// One of its lists, sets or maps, with the changes of the linked elements.
    case collection(PropertyID, elements: ResultFilter?, of: TableID)
  }

  /// The touched parts.
  struct Marks: Sendable {
    var properties = PropertySet()
    /// The first properties of paths at whose end something was touched.
    var leading = PropertySet()
    var lists: [PropertyID: NetListChanges] = [:]
    /// The changes of sets and maps.
    var members: [PropertyID: NetMemberChanges] = [:]
    var isDeleted = false
    /// Commits are missing: current elements cannot be matched with former ones.
    var isLost = false
    /// Values that the observer already knows, because skipped commits set them.
    var known: [PropertyID: Value] = [:]
    /// The authors of the changes, as far as the commits are known.
    var sources = CommitSources()

    var isEmpty: Bool { properties.isEmpty && leading.isEmpty && !isDeleted }
  }

  struct State {
    /// The changes since the last notification, and those since the current offer.
    var pending = Marks()
    var fresh: Marks?
    /// The version up to which everything was noted.
    var version: Version
    /// The version of the last notification, and that of the current offer.
    var notifiedVersion: Version
    var offeredVersion: Version
    var serial: UInt64 = 0
    var awaitsFirst: Bool
    /// The newest version that a skipped commit led to, until the observer follows it.
    var movedTo: Version?
    var failure: StorageError?
    var ignoredAuthors: Set<String> = []
  }

  private static let begun = Atomic<UInt64>(0)

  /// Ascending in the order in which watches begin.
  package let number: UInt64
  package let table: TableID
  private let observedKey: Atomic<Int64>
  package let subject: Subject
  let place: DeliveryPlace
  /// The primary key of the object, if there is one, to find it again.
  let identity: (index: IndexID, value: Value)?
  let state: Mutex<State>
  private let ended = Atomic(false)

  /// - Parameter version: the version that the observer knows: every later commit counts.
  /// - Parameter lists: the observed lists, as of that version.
  /// - Parameter members: the observed sets and maps.
  /// - Parameter identity: the primary key, by which an object that is deleted and created again counts as the same.
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

  /// The object. Replaced by one with the same primary key if the first was deleted.
  package var key: ObjectKey { ObjectKey(observedKey.load(ordering: .acquiring)) }

  /// Observes another object from now on, which replaces the first.
  func follow(_ key: ObjectKey) { observedKey.store(key.rawValue, ordering: .releasing) }

  /// The number of the observed file.
  package var file: UInt64 { place.file }

  /// Whether it was stopped, or had its last call.
  package var isEnded: Bool { ended.load(ordering: .acquiring) }
  func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whether an object is observed, and not one of its collections.
  var isOfObject: Bool { if case .properties = subject { true } else { false } }

  /// Whether anything beyond the object's own properties is observed.
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

  /// Whether all commits that may have touched it are by authors that it ignores.
  func ignoresAll(of records: [CommitRecord]) -> Bool {
    let ignored = state.withLock { $0.ignoredAuthors }
    return !ignored.isEmpty
      && records.allSatisfy { record in
        record.author.map(ignored.contains) ?? false || !(isDeep || record.tables.contains { $0.table == table })
      }
  }
}
