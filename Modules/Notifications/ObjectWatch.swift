import ChangeTracker
import Storage
import Synchronization
import Values

/// One token's observation of an object, or of a list of one: what was touched since its observer was told last. Safe from
/// any thread.
///
/// What it collects says where to look. The observer compares values, so that what came to nothing is not told.
package final class ObjectWatch: Sendable {
  /// What is observed of the object.
  package enum Subject: Sendable {
    /// Its own properties, and what lies at the end of paths.
    case properties(ResultFilter)
    /// One of its lists, with the changes of the elements that lead to objects.
    case list(PropertyID, elements: ResultFilter?, of: TableID)
  }

  /// What was touched.
  struct Marks: Sendable {
    var properties = PropertySet()
    /// The first properties of paths at whose end something was touched.
    var leading = PropertySet()
    var lists: [PropertyID: NetListChanges] = [:]
    var isDeleted = false

    var isEmpty: Bool { properties.isEmpty && leading.isEmpty && !isDeleted }
  }

  fileprivate struct State {
    /// Since the observer was told last, and since what it is offered now.
    var pending = Marks()
    var fresh: Marks?
    /// The version up to which everything was noted.
    var version: Version
    /// The version that the observer was told of last, and the one it is offered.
    var toldVersion: Version
    var offeredVersion: Version
    var serial: UInt64 = 0
    var awaitsFirst: Bool
    var failure: StorageError?
  }

  package let table: TableID
  package let key: ObjectKey
  package let subject: Subject
  let place: DeliveryPlace
  private let state: Mutex<State>
  private let ended = Atomic(false)

  /// - Parameter version: what the observer knows: every later commit counts.
  /// - Parameter counts: the number of elements of the lists that are observed, in that version.
  package init(
    _ subject: Subject, table: TableID, key: ObjectKey, at version: Version, counts: [PropertyID: Int],
    _ place: DeliveryPlace
  ) {
    self.subject = subject
    self.table = table
    self.key = key
    self.place = place
    var state = State(version: version, toldVersion: version, offeredVersion: version, awaitsFirst: false)
    state.pending.lists = counts.mapValues { NetListChanges(count: $0) }
    if case .list = subject { state.awaitsFirst = true }
    self.state = Mutex(state)
  }

  /// Whether it was stopped, or told its last.
  package var isEnded: Bool { ended.load(ordering: .acquiring) }
  func end() -> Bool { !ended.exchange(true, ordering: .acquiringAndReleasing) }

  /// Whether something further away than the object's own properties counts.
  var isDeep: Bool {
    switch subject {
    case .properties(let filter): !filter.paths.isEmpty
    case .list(_, let elements, _): elements != nil
    }
  }

  func fail(_ error: StorageError) { state.withLock { $0.failure = $0.failure ?? error } }
}

// MARK: - Commits

extension ObjectWatch {
  /// Notes what a commit did to the object itself. Returns whether that may have to be told.
  func note(_ change: TableChange, at version: Version) -> Bool {
    var marks = Marks()
    if change.deleted.contains(key.rawValue) { marks.isDeleted = true }
    if let modified = change.modifiedObject(key) { marks.properties = modified.properties.intersection(watched) }
    if marks.isEmpty { return false }
    let edits = change.lists.filter { $0.owner == key }
    return state.withLock { state in
      guard version > state.version else { return false }
      state.add(marks, edits)
      return true
    }
  }

  /// Notes what a commit did further away.
  func noteDeep(
    _ change: TableChange, at version: Version, from: any StorageReading, to: any StorageReading
  ) throws(StorageError) -> Bool {
    var marks = Marks()
    var positions: [Int] = []
    switch subject {
    case .properties(let filter):
      for path in filter.paths where try path.leads(from: key, to: change, from, to) {
        marks.leading.formUnion(path.firstProperty(from: table))
      }
    case .list(let property, let filter, let target):
      guard let filter else { return false }
      positions = try elements(ColumnID(table, property), filter, target, touchedBy: change, from, to)
      if !positions.isEmpty { marks.properties.insert(property) }
    }
    if marks.isEmpty { return false }
    return state.withLock { state in
      guard version > state.version else { return false }
      var edits: [ListChange] = []
      if case .list(let property, _, _) = subject {
        edits = [ListChange(owner: key, property: property, edits: positions.map { .set(at: $0) })]
      }
      state.add(marks, edits)
      return true
    }
  }

  /// Everything up to a version was noted.
  func reached(_ version: Version) { state.withLock { $0.version = max($0.version, version) } }

  /// The commits since the observer was told are not known: all of it may have changed.
  func noteEverything() {
    state.withLock { state in
      var marks = Marks()
      marks.properties = watched
      state.add(marks, [])
    }
  }

  private var watched: PropertySet {
    switch subject {
    case .properties(let filter): filter.properties
    case .list(let property, _, _): PropertySet([property])
    }
  }

  /// The positions, in the newest version, of elements that changed.
  private func elements(
    _ column: ColumnID, _ filter: ResultFilter, _ target: TableID, touchedBy change: TableChange,
    _ from: any StorageReading, _ to: any StorageReading
  ) throws(StorageError) -> [Int] {
    var touched: Set<Int64> = []
    if change.table == target {
      for object in change.modified where !object.properties.isDisjoint(with: filter.properties) {
        touched.insert(object.key.rawValue)
      }
    }
    for path in filter.paths { touched.formUnion(try path.rows(touchedBy: change, from: from, to: to)) }
    var isTouched = false
    for key in touched where !isTouched { isTouched = try isElement(key, column, to) }
    guard isTouched else { return [] }
    var positions: [Int] = []
    var position = 0
    try to.elements(column, key, 0..<Int.max) { batch in
      let vector = batch.columns[0]
      for row in 0..<batch.count where !vector.isNull(at: row) && touched.contains(vector.word(at: row)) {
        positions.append(position + row)
      }
      position += batch.count
      return .proceed
    }
    return positions
  }

  private func isElement(
    _ element: Int64, _ column: ColumnID, _ reading: any StorageReading
  ) throws(StorageError) -> Bool {
    var isElement = false
    try reading.sources(of: ObjectKey(element), through: column) { owners in
      isElement = owners.contains(key.rawValue)
      return isElement ? .stop : .proceed
    }
    guard isElement else { return false }
    return try reading.contains(column.table, key)
  }
}

extension ObjectWatch.State {
  mutating func add(_ marks: ObjectWatch.Marks, _ edits: [ListChange]) {
    pending.add(marks, edits)
    fresh?.add(marks, edits)
  }
}

extension ObjectWatch.Marks {
  fileprivate mutating func add(_ other: Self, _ edits: [ListChange]) {
    properties.formUnion(other.properties)
    leading.formUnion(other.leading)
    isDeleted = isDeleted || other.isDeleted
    for list in edits where lists[list.property] != nil {
      for edit in list.edits { lists[list.property]?.add(edit) }
    }
    if other.isDeleted {
      for property in lists.keys { lists[property]?.add(.clear) }
    }
  }
}

// MARK: - Telling

/// What one object's or list's observer may have to be told in a turn.
package struct WatchOffer: Sendable {
  package enum Content: Sendable {
    /// A list is there for the first time.
    case initial
    /// These properties were set, these lead to something that was; and the edits of lists.
    case touched(PropertySet, leading: PropertySet, lists: [PropertyID: ChangeSet])
    /// The object is gone. The last call; for a list with what that deleted.
    case deleted(ChangeSet)
    case failed(StorageError)
  }

  package let content: Content
  package let watch: ObjectWatch
  /// From the version of the last call to that of this one.
  package let from: Version
  package let to: Version
  fileprivate let serial: UInt64

  /// Takes the offer, right before the observer compares and is told. False when a later one was taken first, or
  /// the token was stopped.
  package func accept() -> Bool { watch.accept(self) }
}

extension ObjectWatch {
  /// What is to be told at a version in which the lists have so many elements.
  func offer(at version: Version, _ reading: any StorageReading) throws(StorageError) -> WatchOffer? {
    var counts: [PropertyID: Int] = [:]
    if try reading.contains(table, key) {
      for property in state.withLock({ $0.pending.lists.keys.map { $0 } }) {
        counts[property] = try reading.elementCount(ColumnID(table, property), key)
      }
    }
    let sizes = counts
    return state.withLock { state in
      let content: WatchOffer.Content
      if let failure = state.failure {
        content = .failed(failure)
      } else if state.pending.isDeleted, !state.awaitsFirst {
        content = .deleted(state.pending.lists.values.first?.changeSet() ?? ChangeSet())
      } else if state.awaitsFirst {
        content = .initial
      } else if state.pending.isEmpty {
        return nil
      } else {
        content = .touched(
          state.pending.properties, leading: state.pending.leading,
          lists: state.pending.lists.mapValues { $0.changeSet() })
      }
      state.serial += 1
      state.offeredVersion = version
      var fresh = Marks()
      fresh.lists = state.pending.lists.mapValues { _ in NetListChanges(count: 0) }
      for (property, count) in sizes { fresh.lists[property] = NetListChanges(count: count) }
      // A list whose owner was gone before the first call still gets its last one.
      fresh.isDeleted = state.awaitsFirst && state.pending.isDeleted
      state.fresh = fresh
      return WatchOffer(content: content, watch: self, from: state.toldVersion, to: version, serial: state.serial)
    }
  }

  fileprivate func accept(_ offer: WatchOffer) -> Bool {
    switch offer.content {
    case .failed, .deleted: return end()
    case .initial, .touched: break
    }
    if isEnded { return false }
    return state.withLock { state in
      guard state.serial == offer.serial, let fresh = state.fresh else { return false }
      state.pending = fresh
      state.fresh = nil
      state.toldVersion = state.offeredVersion
      state.awaitsFirst = false
      return true
    }
  }

  /// Everything that was noted is known to the observer: it is of a commit that it is not to be told of.
  func skip(_ reading: any StorageReading) throws(StorageError) {
    guard let offer = try offer(at: reading.version, reading) else { return }
    if case .touched = offer.content { _ = accept(offer) }
  }

  /// Whether there is something to tell.
  var isPending: Bool {
    state.withLock { $0.failure != nil || $0.awaitsFirst || !$0.pending.isEmpty }
  }

  /// The version up to which everything was noted.
  var version: Version { state.withLock { $0.version } }
}

extension ReadPath {
  /// Whether the path leads from one object to something that a commit changed.
  fileprivate func leads(
    from key: ObjectKey, to change: TableChange, _ from: any StorageReading, _ to: any StorageReading
  ) throws(StorageError) -> Bool {
    try rows(touchedBy: change, from: from, to: to).contains(key.rawValue)
  }

  /// The property of the object with which the path begins; none for a path that begins with an inverse.
  fileprivate func firstProperty(from table: TableID) -> PropertySet {
    if case .forward(let column)? = hops.first { PropertySet([column.property]) } else { PropertySet() }
  }
}

extension TableChange {
  /// O(log n): they ascend.
  func modifiedObject(_ key: ObjectKey) -> ModifiedObject? {
    var low = 0
    var high = modified.count
    while low < high {
      let middle = (low + high) / 2
      if modified[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low < modified.count && modified[low].key == key ? modified[low] : nil
  }
}

extension PropertySet {
  fileprivate func intersection(_ other: PropertySet) -> PropertySet {
    PropertySet(properties.filter { other.contains($0) })
  }
}
