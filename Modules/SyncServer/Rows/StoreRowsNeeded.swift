import SyncModel

/// The rows of a store that a call needs, for stores that read them on demand.
package struct StoreRowsNeeded: Sendable {
  package var replicas: Set<ReplicaID> = []
  package var objects: Set<ObjectIdentity> = []
  /// The handlers by name; each includes the replica as which it writes.
  package var handlers: Set<String> = []
  /// Whether it needs what the replicas have declared of their types.
  package var schema = false

  /// For a call that names nothing.
  package init() {}

  /// For a call that names only a replica.
  package init(_ replica: ReplicaID) { replicas = [replica] }

  /// For a declaration of types.
  package static let schema: StoreRowsNeeded = {
    var needed = StoreRowsNeeded()
    needed.schema = true
    return needed
  }()

  /// For a call of a handler.
  package init(handler: String) { handlers = [handler] }

  /// For uploads: everything that they act on or link to.
  package init(_ replica: ReplicaID, _ uploads: [Upload]) {
    replicas = [replica]
    for upload in uploads {
      switch upload {
      case .changeset(let changeset): objects.formUnion(changeset.namedObjects)
      case .void(_, let named): objects.formUnion(named)
      }
    }
  }

  /// For the writes of a handler.
  package init(handler: String, writing changesets: [Changeset]) {
    handlers = [handler]
    for changeset in changesets {
      replicas.insert(changeset.author)
      objects.formUnion(changeset.namedObjects)
    }
  }

  package mutating func formUnion(_ other: StoreRowsNeeded) {
    replicas.formUnion(other.replicas)
    objects.formUnion(other.objects)
    handlers.formUnion(other.handlers)
    schema = schema || other.schema
  }
}
