import SyncModel
import SyncServer
import Vivarium

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Event handlers for a server's stores: each handler processes each change once, whatever crashes in between.
///
/// ```swift
/// let events = ServerEvents(host.stores, models: Order.self, Invoice.self)
/// try await events.on(store: "/*/orders", Order.self, named: "billing", where: { $0.isPaid == false }) { change, store in
///   guard change.kind == .insert, let order = change.object(in: store) else { return }
///   let invoice = try store.create(Invoice.self, value: ["order": order.id])
///   order.invoice = invoice.id
/// }
/// await events.run()      // until the task is cancelled
/// ```
///
/// A handler is called once for each object that a transaction created, changed or deleted, in the order of the log, with the old and new
/// state (`ServerChange`). Its writes become one transaction together with the note that the event is processed: a process that is killed
/// at any moment has done both, or neither and the event is repeated. Work outside the store is done at least once;
/// `ServerChange.idempotencyKey` identifies repetitions.
///
/// Handlers of one name share the work over processes: one of them has a store at a time, and another takes over when its lease expires.
/// Events wait in the server's log while no process runs the handler, and nothing that it still needs is forgotten
/// (`SyncServerStore.removeHandler`). The first run of a name begins at the head of existing stores, and at the start of stores created
/// later. A handler gets no events of its own writes.
///
/// **Threads.** Any task may call; a handler is called on no particular thread, one event after the other. **Cost.** The stores that have
/// news are in memory, about `Options.storesInMemory` per handler; an event costs what its transaction changed.
public actor ServerEvents {
  /// The options for running handlers.
  public struct Options: Sendable {
    /// How long a process's lease of a store lasts without renewal: if the process dies, another takes over after that.
    public var lease = Duration.seconds(30)
    /// The number of stores without news that a handler keeps in memory.
    public var storesInMemory = 64
    /// The wait before a failed event is retried; it doubles, up to `longestDelay`.
    public var firstDelay = Duration.seconds(1)
    /// The longest wait.
    public var longestDelay = Duration.seconds(300)
    /// The number of failures after which an event is skipped; nil: it is retried for ever, and those after it wait.
    public var attemptsMax: Int?
    /// The interval at which stores leased to other processes are retried.
    public var pause = Duration.seconds(1)

    /// Creates the default options.
    public init() {}

    var leaseMilliseconds: Int64 { max(3, lease.inMilliseconds) }

    func delay(afterAttempt attempts: Int) -> Int64 {
      let first = max(1, firstDelay.inMilliseconds)
      return min(max(first, longestDelay.inMilliseconds), first << Int64(min(max(0, attempts - 1), 20)))
    }
  }

  private let stores: any EventStores
  private let models: [any SchemaDescribing.Type]
  private let options: Options
  let clock: @Sendable () -> Int64
  private var handlers: [(pattern: PathPattern, handler: any AnyEventHandler)] = []
  private nonisolated let notes = EventNotices()
  private nonisolated let counter = EventCounter()

  /// Creates handlers for the events of some stores.
  ///
  /// - Parameters:
  ///   - models: the types that handlers read and write. They neither see nor touch other types.
  ///   - clock: milliseconds since 1970.
  public init(
    _ stores: any EventStores, models: any SchemaDescribing.Type..., options: Options = Options(),
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
  ) {
    (self.stores, self.models, self.options, self.clock) = (stores, models, options, clock)
  }

  // MARK: handlers

  /// Adds a handler that works inside the store: `body` is called in a write, which is rolled back if it throws.
  ///
  /// - Parameters:
  ///   - pattern: the stores: "/shared/shop", "/*/orders", "/shared/*" (`PathPattern`).
  ///   - name: the handler's permanent name, the same in every process that runs it. Throws `ServerEventError` if it is taken here.
  ///   - condition: selects objects that match before or after a change.
  public func on<T: Model>(
    store pattern: String, _ type: T.Type, named name: String, where condition: (@Sendable (Field<T>) -> Condition)? = nil,
    _ body: @escaping @Sendable (ServerChange<T>, Store) throws -> Void
  ) throws(ServerEventError) {
    try add(pattern, type, name, condition) { change in { store in try body(change, store) } }
  }

  /// Adds a handler that also works outside the store: `body` may take any time, and returns the write, which is one transaction with the
  /// note that the event is processed. The event is repeated if the process dies in between.
  public func on<T: Model>(
    store pattern: String, _ type: T.Type, named name: String, where condition: (@Sendable (Field<T>) -> Condition)? = nil,
    outside body: @escaping @Sendable (ServerChange<T>) async throws -> @Sendable (Store) throws -> Void
  ) throws(ServerEventError) {
    try add(pattern, type, name, condition, body)
  }

  func add<T: Model>(
    _ text: String, _ type: T.Type, _ name: String, _ condition: (@Sendable (Field<T>) -> Condition)?,
    waiting: (@Sendable (Store) -> [T])? = nil, _ work: @escaping EventHandler<T>.Work
  ) throws(ServerEventError) {
    guard let pattern = PathPattern(text) else { throw .pattern(text) }
    guard StorePath.isPart(name) else { throw .name(name) }
    guard !handlers.contains(where: { $0.handler.name == name }) else { throw .taken(name) }
    let all = models.contains { $0 == T.self } ? models : models + [T.self]
    let handler = EventHandler(name: name, models: all, condition: condition, work: work, waiting: waiting)
    // Reports errors of the models here instead of repeatedly while running.
    do { _ = try handler.replica(of: EventRegistry.path, clock: clock) } catch { throw .models("\(error)") }
    handlers.append((pattern, handler))
    counter.count(name)
  }

  // MARK: running

  /// Registers the handlers' names at the server, as `run` does at its beginning: once this returns they miss no event, whether they run
  /// or not. Throws if the stores cannot be reached, and `CancellationError`.
  public func register() async throws {
    for (pattern, handler) in handlers {
      let registry = EventRegistry(stores: stores, turnMilliseconds: options.leaseMilliseconds, clock: clock)
      // Another process may be registering it.
      while !(try await registry.register(handler.name, pattern)) { try await Task.sleep(for: options.pause) }
    }
  }

  /// Runs the handlers added so far until the task is cancelled, then releases all leases.
  public func run() async {
    let wakeups = await stores.wakeups()
    let runs = handlers.map { EventRun($0.handler, $0.pattern, stores, options, clock: clock, tell: notes.tell, counter: counter) }
    await withDiscardingTaskGroup { group in
      for run in runs { group.addTask { await run.run() } }
      group.addTask { for await path in wakeups { for run in runs { await run.wake(path) } } }
      group.addTask { [stores, options] in await ServerEvents.scan(stores, options.pause, runs) }
    }
  }

  /// Tells each handler now and then which stores there are, for news from before this process listened.
  private static func scan(_ stores: any EventStores, _ pause: Duration, _ runs: [EventRun]) async {
    while !Task.isCancelled {
      // If the stores cannot be read now, the next pass reads them.
      if let paths = try? await stores.stores() { for run in runs { await run.see(paths) } }
      do { try await Task.sleep(for: pause) } catch { return }
    }
  }

  /// The notices from now on.
  public nonisolated func notices() -> AsyncStream<ServerEventNotice> { notes.stream() }

  /// What the handlers have done in this process. Any thread.
  public nonisolated var counts: ServerEventCounts { counter.counts }
}

extension Duration {
  fileprivate var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
