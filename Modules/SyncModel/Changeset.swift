/// What one write transaction of one replica did. Taken in whole or not at all, everywhere.
public struct Changeset: Hashable, Sendable {
  /// 1, 2, 3 … in the order of the replica's transactions: by this an upload that comes twice counts once.
  public let clientSeq: UInt64
  /// The last entry of the log that the author had integrated.
  public let baseSeq: Seq
  /// Whether the next changeset belongs to the same transaction: they are accepted, refused and integrated together.
  public let isContinued: Bool
  /// Of the schema that the author wrote with.
  public let schemaHash: UInt64
  /// The stamp of the first operation; its replica is the author. The others follow at the next times.
  public let first: Stamp
  /// In the order in which the author made them. Nothing here checks that they are well-formed (`Operation.isWellFormed`).
  public let operations: [Operation]

  /// A changeset of what it consists of, which is taken as it is.
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

  /// The replica whose transaction it was.
  public var author: ReplicaID { first.replica }

  /// The stamp of an operation by its index: nothing is stored for it.
  public func stamp(of index: Int) -> Stamp { first.advanced(by: index) }

  /// The stamp of the last operation; of an empty changeset that of the first.
  public var last: Stamp { stamp(of: max(operations.count - 1, 0)) }

  /// The objects it acts on, each once.
  public var objects: Set<ObjectIdentity> { Set(operations.map(\.object)) }

  /// Calls the body with every stamp that the operations name: epochs of objects, nodes and links, and those inside
  /// positions. With `last` they are all that the keeper of the log checks against its clock (`HybridClock.check`).
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
