import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Captures the changes of an open write as operations.
///
/// The merge state has the values from before the write. Each operation is merged into it as soon as it is made, so in the end it has the
/// current values. Deletes come first and creations next, so whether a link leads anywhere is decided here as it will be wherever the
/// operations are merged later.
struct ChangeAuthor {
  let write: RecordedTransaction
  let sides: any SideWriting
  var state: FileState
  var standing: ReplicaStanding
  let wall: Int64
  let notes: CommitNotes
  let localTypes: Set<String>
  /// The number of the last element that the file had inserted into a list before the write.
  let elementsBefore: UInt64
  /// Shows the merge state in the file.
  var shown: Integrator<FileState>
  var source = PositionSource()
  private(set) var first: Stamp?
  private(set) var operations: [SyncModel.Operation] = []
  /// The rows that the write inserted, by table.
  private(set) var inserted: [TableID: KeyRuns] = [:]
  /// The incarnations that the write ended, and the objects that it created.
  private(set) var ended: [ObjectIdentity: EpochGuard] = [:]
  private(set) var created: Set<ObjectIdentity> = []
  /// The edits of lists, by owner and property.
  private(set) var edits: [CommitNotes.Place: [ListChange.Edit]] = [:]
  /// The changes of sets and maps, by owner and property.
  private(set) var members: [CommitNotes.Place: [MemberChange]] = [:]
  /// Embedded rows whose contents were captured as a whole.
  var isWhole: Set<ObjectPlace> = []
  /// Whether to compare in full with the merge state, because no record has the edits.
  var isComparing = false
  /// Whether the write changed the schema.
  private var hasNewSchema = false
  /// The properties that existing objects get in this write: their values are what opening or migrating the file put there.
  private var added: [TableID: PropertySet] = [:]
  /// Whether such a property is being captured. Each replica fills it for itself, at any time, so its values lose to every value that
  /// somebody wrote (`Register.Key.byDefault`), and nothing is captured of what others wrote of it before the file had it.
  var isFilling = false
  /// Embedded objects of such properties that others had made or removed before the file had the property.
  var yielded: [(object: ObjectIdentity, path: [PathStep.Place])] = []
  /// Whether the captured objects are from before replication: their values lose to every value that somebody wrote.
  private(set) var isAdopting = false

  var names: ObjectNames { shown.names }

  /// Whether anything was captured.
  var hasChanges: Bool { first != nil }

  init(
    _ write: RecordedTransaction, _ sides: any SideWriting, _ state: FileState, _ standing: ReplicaStanding, wall: Int64,
    _ notes: CommitNotes, _ localTypes: Set<String>
  ) {
    self.write = write
    self.sides = sides
    self.state = state
    self.standing = standing
    self.wall = wall
    self.notes = notes
    self.localTypes = localTypes
    elementsBefore = standing.elements
    shown = Integrator(write, sides, own: standing.replica, state: state)
    state.settled.names = shown.names
  }

  // MARK: steps

  /// - Parameter uncaptured: the writes of other programs before this write.
  mutating func capture(_ record: CommitRecord, _ uncaptured: UncapturedWrites? = nil) throws(StorageError) {
    note(record)
    hasNewSchema = record.changedCatalog
    noteAdded()
    if let uncaptured { return try capture(record, after: uncaptured) }
    let tables = record.tables.compactMap { change in replicated(change.table).map { ($0, change) } }
    for (table, change) in tables where !table.isEmbedded {
      for key in change.deleted { try delete(table, ObjectKey(key)) }
    }
    var new: [(TableEntry, ObjectKey, ObjectIdentity)] = []
    for (table, change) in tables where !table.isEmbedded {
      for key in change.inserted { new.append((table, ObjectKey(key), try create(table, ObjectKey(key)))) }
    }
    for (table, key, object) in new { try contents(of: ShownRow(table: table, key: key), object, [], nil, isNew: true) }
    for (table, change) in tables where !table.isEmbedded {
      for modified in change.modified { try changed(table, modified) }
    }
    try changedParts(tables)
  }

  /// Captures all objects: for the first replicated write of a file that already has some.
  mutating func adopt(_ record: CommitRecord) throws(StorageError) {
    isAdopting = true
    var new: [(TableEntry, ObjectKey, ObjectIdentity)] = []
    for table in sides.catalog.tables where !table.isEmbedded && replicated(table.id) != nil {
      var keys: [Int64] = []
      try sides.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row).rawValue) }
        return .proceed
      }
      for key in keys { new.append((table, ObjectKey(key), try create(table, ObjectKey(key)))) }
    }
    for (table, key, object) in new { try contents(of: ShownRow(table: table, key: key), object, [], nil, isNew: true) }
  }

  /// Puts the changeset into the outbox, and shows the links that were waiting for objects created by the write.
  mutating func finish() throws(StorageError) {
    if let first {
      try Outbox.put(operations, first: first, base: try SyncCursor.read(sides), schemaHash: 0, &standing, sides)
    }
    standing.captured = sides.version.next
    try standing.write(sides)
    for object in created {
      for linker in try state.linkers(of: object) { try shown.reconcile(linker, .links) }
    }
    if hasNewSchema { try showKept() }
    for (object, path) in yielded { try shown.reconcile(embedded: path, of: object) }
    try state.flush()
  }

  /// Shows values that others wrote of types and properties that the schema did not have before. O(objects), once for each schema.
  private mutating func showKept() throws(StorageError) {
    for object in try state.knownObjects().sorted() where !localTypes.contains(object.className.text) {
      try shown.reconcile(object, .kept)
    }
  }

  func replicated(_ table: TableID) -> TableEntry? {
    guard let entry = sides.catalog[table], !localTypes.contains(entry.name) else { return nil }
    return entry
  }

  /// Notes rows that were inserted before the write and are not in the merge state.
  mutating func note(inserted keys: [Int64], _ table: TableID) {
    inserted[table] = KeyRuns((inserted[table].map(Array.init) ?? []) + keys)
  }

  private mutating func noteAdded() {
    guard let before = write.catalogBefore else { return }
    for table in sides.catalog.tables {
      guard let old = before[table.id] else { continue }
      let new = PropertySet(table.columns.map(\.id).filter { old[$0] == nil })
      if !new.isEmpty { added[table.id] = new }
    }
  }

  /// Whether existing objects get the property in this write.
  func isAdded(_ property: PropertyID, to table: TableID) -> Bool { added[table]?.contains(property) ?? false }

  private mutating func note(_ record: CommitRecord) {
    let new = Dictionary(record.tables.map { ($0.table, $0.inserted) }) { first, _ in first }
    let write = write
    state.settled.isNew = { new[$0.table]?.contains($0.key.rawValue) ?? false }
    state.settled.before = { write.valueBefore($0, $1) }
    for change in record.tables {
      inserted[change.table] = change.inserted
      for list in change.lists {
        edits[CommitNotes.Place(ColumnID(change.table, list.property), list.owner)] = list.edits
      }
      for collection in change.collections {
        members[CommitNotes.Place(ColumnID(change.table, collection.property), collection.owner)] = collection.members
      }
    }
  }

  // MARK: objects

  mutating func delete(_ table: TableEntry, _ key: ObjectKey) throws(StorageError) {
    let place = ObjectLink(table.id, key)
    let object: ObjectIdentity?
    if table.primaryKey != nil {
      let value = notes.deleted[ObjectPlace(table: table.id, key: key.rawValue)] ?? .null
      object = ObjectIdentity(Name(table.name), primaryKey: value)
    } else {
      object = try names.identity(of: place)
    }
    guard let object else { return }
    try state.noteGone(object)
    try end(object, at: place)
  }

  mutating func end(_ object: ObjectIdentity, at place: ObjectLink?) throws(StorageError) {
    guard let record = try state.record(of: object), record.isAlive else { return }
    ended[object] = record.node.guarding
    try make(object, [], .delete)
    if let place { try names.forget(object, at: place) }
  }

  mutating func create(_ table: TableEntry, _ key: ObjectKey) throws(StorageError) -> ObjectIdentity {
    guard let object = try names.identity(of: ObjectLink(table.id, key)) else {
      throw StorageError(
        .schemaMismatch, .transaction, "An object of '\(table.name)' has no primary key that replicas could know it by.",
        remedy: "Give every object of a replicated type a primary key that is not nil.")
    }
    if let before = try state.record(of: object), !before.isAlive, !before.node.contents.isEmpty { try make(object, [], .delete) }
    try make(object, [], .create)
    created.insert(object)
    return object
  }

  mutating func changed(_ table: TableEntry, _ modified: ModifiedObject) throws(StorageError) {
    if let key = table.primaryKey, modified.properties.contains(key.id) {
      throw StorageError(
        .schemaMismatch, .transaction, "The primary key of an object of '\(table.name)' changed, by which other replicas know it.",
        remedy: "Create an object with the new key and delete the old one.")
    }
    guard let object = try names.identity(of: ObjectLink(table.id, modified.key)) else { return }
    try contents(of: ShownRow(table: table, key: modified.key), object, [], modified.properties, isNew: false)
  }

  // MARK: operations

  /// The stamp of the next operation.
  mutating func stamp() throws(StorageError) -> Stamp {
    do throws(ClockError) { return try standing.clock.next(wall: wall) } catch { throw StorageError(error) }
  }

  mutating func make(_ object: ObjectIdentity, _ path: [PathStep.Place], _ action: SyncModel.Operation.Action) throws(StorageError) {
    try make(object, path, action, at: try stamp())
  }

  mutating func make(
    _ object: ObjectIdentity, _ path: [PathStep.Place], _ action: SyncModel.Operation.Action, at stamp: Stamp
  ) throws(StorageError) {
    let operation = try SyncModel.Operation.made(on: object, path, action, seeing: state)
    _ = try Merge.apply(operation, at: stamp, seq: .pending, to: &state)
    if first == nil { first = stamp }
    operations.append(operation)
  }

  // MARK: values

  /// A value in its replicated form.
  func cell(_ value: Value, _ column: ColumnEntry) throws(StorageError) -> CellValue {
    try CellValue(value) { value throws(StorageError) -> LinkTarget? in
      let place: ObjectLink
      switch value {
      case .link(let key):
        guard let table = column.schema.target.flatMap({ sides.catalog[$0] }) else { return nil }
        place = ObjectLink(table.id, key)
      case .object(let link): place = link
      default: return nil
      }
      // Other programs may write links to rows that do not exist.
      if isComparing, try !sides.contains(place.table, place.key) { return nil }
      guard let table = replicated(place.table), !table.isEmbedded else {
        throw StorageError(
          .schemaMismatch, .transaction, "'\(column.schema.name)' links to an object that stays on this device.",
          remedy: "Let no replicated type link to a local one.")
      }
      return try names.identity(of: place).map { object throws(StorageError) in try LinkTarget.made(to: object, seeing: state) }
    }
  }

  /// Whether the file showed a link before the write.
  func wasShown(_ link: LinkTarget) throws(StorageError) -> Bool {
    if let before = ended[link.object] { return Merge.resolves(link, before, floor: state.floor) }
    if created.contains(link.object) { return false }
    return try Merge.resolves(link, in: state)
  }
}
