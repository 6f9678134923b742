import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol
import Vivarium

// For event handlers on a server, which integrate one transaction after the other and look at what it changed.

extension SessionFile {
  /// Sets the replica of an empty file.
  package func become(_ replica: ReplicaID) async throws {
    try await file.integrate { write in
      guard let sides = write.transaction.writePowers.sides else { throw StorageError.withoutSideEntries }
      try ReplicaStanding(replica: replica).write(sides)
    }
  }

  /// Fills an empty file with the store's objects as of an entry.
  package func begin(with objects: [StatePage.Object], asOf seq: Seq, _ last: StatePage, wall: Int64) async throws {
    let page = StatePage(
      asOf: seq, stable: min(last.stable, seq), floor: last.floor, latest: last.latest, objects: objects, next: [], isLast: true)
    let bound = Bound(
      mode: .snapshot, rights: [.read, .write], history: [], head: seq, stable: page.stable, judged: 0, judgedStamp: .zero, refusal: .zero,
      refused: [], schemaHash: 0, credit: 0)
    _ = try await take([page], bound, clockOffset: nil, wall: wall)
  }

  /// An object that a transaction created, changed or deleted.
  package struct Touched: Sendable {
    /// Its key in this file.
    package let key: Int64
    /// What it is called in every replica; nil if it has come and gone in the transaction.
    package let identity: ObjectIdentity?
  }

  /// Integrates a transaction, and returns the objects of a type that it created, changed or deleted, in ascending order of their keys. A
  /// change in an embedded object counts as a change of its object.
  package func integrate(_ entries: [LogEntry], telling type: String) async throws -> [Touched] {
    let before = try file.read { $0.version }
    let (owners, old) = try await file.integrate { write in
      var changes = try RemoteChanges(write)
      // A deleted object has no name any more.
      let old = try changes.identities(of: type, in: entries)
      for entry in entries { try changes.take(entry) }
      try changes.finish()
      return (try changes.owners(in: entries), old)
    }
    let keys: [Int64] = try file.read { snapshot in
      guard let table = snapshot.catalog[type]?.id else { return [] }
      var keys = Set(owners.filter { $0.table == table }.map(\.key.rawValue))
      try snapshot.history(after: before) { record in
        for change in record.tables where change.table == table {
          keys.formUnion(change.inserted)
          keys.formUnion(change.deleted)
          keys.formUnion(change.modified.map(\.key.rawValue))
        }
        return .proceed
      }
      return keys.sorted()
    }
    let now = try identities(of: keys, type)
    return keys.map { Touched(key: $0, identity: now[$0] ?? old[$0]) }
  }

  /// What objects of a type are called in every replica, by their keys in this file. Without those that do not exist.
  package func identities(of keys: [Int64], _ type: String) throws -> [Int64: ObjectIdentity] {
    try file.read { snapshot in
      guard let table = snapshot.catalog[type]?.id else { return [:] }
      return try sides(snapshot) { sides, standing in
        var identities: [Int64: ObjectIdentity] = [:]
        for key in keys where try sides.contains(table, ObjectKey(key)) {
          identities[key] = try ObjectNames.identity(of: ObjectLink(table, ObjectKey(key)), in: sides, own: standing.replica)
        }
        return identities
      } ?? [:]
    }
  }
}

extension RemoteChanges {
  /// Brings objects into a file that has no others, in a write that is undone, and says where they are.
  package static func places(
    of states: [ObjectIdentity: ObjectState], in write: RecordedTransaction
  ) throws(StorageError) -> [ObjectIdentity: ObjectLink] {
    var changes = try RemoteChanges(write)
    try changes.integrator.take(states.mapValues { $0 }, under: PendingChangesets())
    var places: [ObjectIdentity: ObjectLink] = [:]
    for object in states.keys { places[object] = try changes.integrator.names.place(of: object) }
    return places
  }

  /// The objects of a type that some changes name and that exist, by their keys.
  fileprivate func identities(of type: String, in entries: [LogEntry]) throws(StorageError) -> [Int64: ObjectIdentity] {
    var identities: [Int64: ObjectIdentity] = [:]
    let name = Name(type)
    for case .changeset(_, let changeset) in entries.map(\.body) {
      for object in Set(changeset.operations.map(\.object)) where object.className == name {
        if let place = try integrator.names.place(of: object) { identities[place.key.rawValue] = object }
      }
    }
    return identities
  }

  /// The objects in whose embedded objects some changes act.
  fileprivate func owners(in entries: [LogEntry]) throws(StorageError) -> Set<ObjectLink> {
    var owners: Set<ObjectLink> = []
    for case .changeset(_, let changeset) in entries.map(\.body) {
      for operation in changeset.operations where operation.isEmbedded {
        if let place = try integrator.names.place(of: operation.object) { owners.insert(place) }
      }
    }
    return owners
  }
}

extension SyncModel.Operation {
  /// Whether the operation acts inside an embedded object, or creates or ends it.
  fileprivate var isEmbedded: Bool {
    path.contains { step in
      switch step.place {
      case .embedded, .element, .entry: true
      case .list, .set, .map: false
      }
    }
  }
}
