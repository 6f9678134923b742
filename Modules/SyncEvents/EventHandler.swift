import SyncModel
import SyncServer
import Vivarium

/// A handler registered by `ServerEvents.on`: the events it wants, of which stores, and its work.
struct EventHandler<T: Model>: Sendable {
  /// Does the work outside the store, and returns the write to perform in it.
  typealias Work = @Sendable (ServerChange<T>) async throws -> @Sendable (Store) throws -> Void

  let name: String
  let models: [any SchemaDescribing.Type]
  let condition: (@Sendable (Field<T>) -> Condition)?
  let work: Work
  /// The objects that wait for the handler whatever the log says, in the order of their insertion; nil for a handler of changes only.
  let waiting: (@Sendable (Store) -> [T])?
}

/// A handler without its generic type.
protocol AnyEventHandler: Sendable {
  var name: String { get }
  /// Whether objects may wait for the handler whatever the log says: then it has to look at each store.
  var looksForWaiting: Bool { get }
  /// The handler's replica of a store, still empty.
  func replica(of path: StorePath, clock: @escaping @Sendable () -> Int64) throws -> any EventWork
}

extension EventHandler: AnyEventHandler {
  var looksForWaiting: Bool { waiting != nil }

  func replica(of path: StorePath, clock: @escaping @Sendable () -> Int64) throws -> any EventWork {
    try EventReplica(self, path, clock: clock)
  }
}

/// A handler's replica of a store, without its generic type: it follows the log, and the handler's cursor follows it.
protocol EventWork: Actor {
  /// The replica as which it writes.
  nonisolated var replica: ReplicaID { get }
  /// The last integrated entry.
  var cursor: Seq { get }
  /// The number of events that are not processed yet.
  var pendingCount: Int { get }

  /// Loads the store as of an entry. Call it once, at the beginning.
  func begin(at seq: Seq, of stores: any EventStores) async throws
  /// Integrates the next transaction.
  func take(_ transaction: LogTransaction) async throws
  /// Makes events of the objects that wait for the handler. Call it after `begin`, once the whole log is integrated: then what earlier
  /// holders have done is known.
  func findWaiting() throws
  /// Skips entries that do not concern the handler.
  func skip(to seq: Seq)
  /// Whether the handler has ended its write itself and failed: what it wrote is in the memory, and would be sent with its next writes.
  var isSpoiled: Bool { get }
  /// Processes the events, and returns the handler's writes. After an error it can be called again, unless the memory is spoiled.
  func deal() async throws -> [Changeset]
  /// Notes that the events are done.
  func settle()
}
