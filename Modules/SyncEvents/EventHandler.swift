import SyncModel
import SyncServer
import Vivarium

/// What was asked for by `ServerEvents.on`: whose events, of which stores, and what is to be done with them.
struct EventHandler<T: Model>: Sendable {
  /// Does what is outside the store, and gives what is to be written.
  typealias Work = @Sendable (ServerChange<T>) async throws -> @Sendable (Store) throws -> Void

  let name: String
  let models: [any SchemaDescribing.Type]
  let condition: (@Sendable (Field<T>) -> Condition)?
  let work: Work
}

/// A handler without its type.
protocol AnyEventHandler: Sendable {
  var name: String { get }
  /// The store of a path, still empty, as the handler sees it.
  func replica(of path: StorePath, clock: @escaping @Sendable () -> Int64) throws -> any EventWork
}

extension EventHandler: AnyEventHandler {
  func replica(of path: StorePath, clock: @escaping @Sendable () -> Int64) throws -> any EventWork {
    try EventReplica(self, path, clock: clock)
  }
}

/// A store as one handler sees it, without its type: it follows the log, and the handler's cursor follows it.
protocol EventWork: Actor {
  /// As what it writes.
  nonisolated var replica: ReplicaID { get }
  /// Up to here it has taken everything in.
  var cursor: Seq { get }
  /// Whether the last transaction has events that were not dealt with.
  var isPending: Bool { get }

  /// Becomes the store as it was as of an entry. Once, at the beginning.
  func begin(at seq: Seq, of stores: any SyncServerStore) async throws
  /// Takes the next transaction in.
  func take(_ transaction: LogTransaction) async throws
  /// Passes over entries that do not concern it.
  func skip(to seq: Seq)
  /// Has the handler deal with the events of the last transaction, and returns what it wrote. After an error it can be called again.
  func deal() async throws -> [Changeset]
  /// The events of the last transaction are over.
  func settle()
}
