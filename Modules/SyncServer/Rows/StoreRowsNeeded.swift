import SyncModel

/// Which rows of a store a call needs, where they are read when it comes.
package struct StoreRowsNeeded: Sendable {
  package var replicas: Set<ReplicaID> = []
  package var objects: Set<ObjectIdentity> = []
  /// By name; with each the replica that it writes as.
  package var handlers: Set<String> = []

  /// Of a call that names nothing.
  package init() {}

  /// Of a call that names nothing but a replica.
  package init(_ replica: ReplicaID) { replicas = [replica] }

  /// Of a call for a handler.
  package init(handler: String) { handlers = [handler] }

  /// Of uploads: all that they act on or link to.
  package init(_ replica: ReplicaID, _ uploads: [Upload]) {
    replicas = [replica]
    for upload in uploads {
      switch upload {
      case .changeset(let changeset): objects.formUnion(changeset.namedObjects)
      case .void(_, let named): objects.formUnion(named)
      }
    }
  }

  /// Of what a handler wrote.
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
  }
}
