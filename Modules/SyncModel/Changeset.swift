/// The operations of one write transaction of one replica. Every replica applies it as a whole or not at all.
public struct Changeset: Sendable {
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
  /// What `encoded()` returns, if it was computed already. It follows from the rest, so it has no part in equality.
  private(set) var kept: [UInt8]?

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

  /// The changeset with its bytes, for one that is encoded many times: a log sends it to every session. O(size) once; `encoded()` is
  /// O(1) afterwards.
  package func keepingEncoded() -> Changeset {
    if kept != nil { return self }
    var copy = self
    copy.kept = encoded()
    return copy
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

extension Changeset: Hashable {
  /// Whether all parts are the same. O(size).
  public static func == (a: Changeset, b: Changeset) -> Bool {
    a.clientSeq == b.clientSeq && a.baseSeq == b.baseSeq && a.isContinued == b.isContinued && a.schemaHash == b.schemaHash
      && a.first == b.first && a.operations == b.operations
  }

  /// Hashes author and number, which no two transactions share, and the operations. O(size).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(clientSeq)
    hasher.combine(first)
    hasher.combine(operations)
  }
}
