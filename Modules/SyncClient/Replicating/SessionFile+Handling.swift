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

  /// Integrates a transaction, and returns the keys of the objects of a type that it created, changed or deleted, in ascending order. A
  /// change in an embedded object counts as a change of its object.
  package func integrate(_ entries: [LogEntry], telling type: String) async throws -> [Int64] {
    let before = try file.read { $0.version }
    let owners = try await file.integrate { write in
      var changes = try RemoteChanges(write)
      for entry in entries { try changes.take(entry) }
      try changes.finish()
      return try changes.owners(in: entries)
    }
    return try file.read { snapshot in
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
