/// The operations of one write transaction of one replica. Every replica applies it as a whole or not at all.
public struct Changeset: Hashable, Sendable {
  /// 1, 2, 3 … in the order of the replica's transactions. A repeated upload is recognized by it.
  public let clientSeq: UInt64
  /// The last entry of the log that the author had integrated.
  public let baseSeq: Seq
  /// Whether the next changeset belongs to the same transaction: they are accepted, refused and integrated together.
  public let isContinued: Bool
  /// The hash of the schema that the author wrote with.
  public let schemaHash: UInt64
  /// The stamp of the first operation; its replica is the author. The other operations have the consecutive times after it.
  public let first: Stamp
  /// The operations in the order in which the author made them. They may not be well-formed (`Operation.isWellFormed`).
  public let operations: [Operation]

  /// Creates a changeset without checking its parts.
  public init(
    clientSeq: UInt64, baseSeq: Seq, isContinued: Bool = false, schemaHash: UInt64 = 0, first: Stamp, operations: [Operation]
  ) {
    self.clientSeq = clientSeq
    self.baseSeq = baseSeq
    self.isContinued = isContinued
    self.schemaHash = schemaHash
    self.first = first
    self.operations = operations
  }

  /// The replica that made the transaction.
  public var author: ReplicaID { first.replica }

  /// The stamp of the operation at an index. It is computed, not stored.
  public func stamp(of index: Int) -> Stamp { first.advanced(by: index) }

  /// The stamp of the last operation; of an empty changeset that of the first.
  public var last: Stamp { stamp(of: max(operations.count - 1, 0)) }

  /// The objects that the operations act on, each once.
  public var objects: Set<ObjectIdentity> { Set(operations.map(\.object)) }

  /// Calls the body with every stamp that the operations name: epochs of objects, nodes and links, and the stamps inside positions. These
  /// and `last` are all the stamps that the server checks against its clock (`HybridClock.check`).
  public func forEachNamedStamp(_ body: (Stamp) -> Void) {
    func visit(_ position: ListPosition) { for step in position.steps { body(step.bunch) } }
    for operation in operations {
      body(operation.epoch)
      for step in operation.path {
        body(step.epoch)
        visit(step.near)
      }
      operation.value?.forEachLink { body($0.epoch) }
      switch operation.action {
      case .insert(_, let position, _), .setElement(_, let position, _), .erase(_, let position): visit(position)
      case .move(_, let from, let to):
        visit(from)
        visit(to)
      default: break
      }
    }
  }
}
