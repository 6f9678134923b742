import SyncModel
import SyncServer
import Vivarium

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Handlers of what happens in a server's stores: each change comes to each handler once, whatever dies in between.
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
/// A handler is called once for each object that a transaction has made, changed or deleted, in the order of the log, with old and
/// new state (`ServerChange`). What it writes goes to everybody as one transaction, which also notes that the event is dealt with: a
/// process that is killed at any moment has done both or neither, and the event comes again. What it does outside the store comes at least
/// once; `ServerChange.idempotencyKey` tells a repetition.
///
/// Handlers of one name share the work over processes: one has a store at a time, and another takes over when its lease ends. Events
/// wait in the server's log for as long as no process runs the handler; nothing that it still needs is forgotten meanwhile
/// (`SyncServerStore.removeHandler`). The first time that a name runs it begins with what comes, in stores that come later at their
/// beginning. A handler's own writes do not come to it.
///
/// **Threads.** Any task may call; a handler is called in no particular thread, one event after the other. **Cost.** The stores that
/// have news are in memory, about `Options.storesInMemory` a handler; an event costs what its transaction changed.
public actor ServerEvents {
  /// How handlers are run.
  public struct Options: Sendable {
    /// For how long a process has the right to a store's events without saying so again: when it dies, another one takes over after that.
    public var lease = Duration.seconds(30)
    /// The stores that a handler keeps in memory when they have no news.
    public var storesInMemory = 64
    /// The wait before an event that a handler has thrown for comes again; it doubles, up to `longestDelay`.
    public var firstDelay = Duration.seconds(1)
    /// The longest wait.
    public var longestDelay = Duration.seconds(300)
    /// After so many failures an event is skipped; nil: it comes again and again, and those behind it wait.
    public var attemptsMax: Int?
    /// How often stores are looked at that another process has.
    public var pause = Duration.seconds(1)

    /// The usual.
    public init() {}

    var leaseMilliseconds: Int64 { max(3, lease.inMilliseconds) }

    func delay(afterAttempt attempts: Int) -> Int64 {
      let first = max(1, firstDelay.inMilliseconds)
      return min(max(first, longestDelay.inMilliseconds), first << Int64(min(max(0, attempts - 1), 20)))
    }
  }

  private let stores: any SyncServerStore
  private let models: [any SchemaDescribing.Type]
  private let options: Options
  let clock: @Sendable () -> Int64
  private var handlers: [(pattern: PathPattern, handler: any AnyEventHandler)] = []
  private nonisolated let notes = EventNotices()

  /// Handlers of the events of some stores.
  ///
  /// - Parameters:
  ///   - models: the types that handlers read and write. What else is in a store they neither see nor touch.
  ///   - clock: milliseconds since 1970.
  public init(
    _ stores: any SyncServerStore, models: any SchemaDescribing.Type..., options: Options = Options(),
    clock: @escaping @Sendable () -> Int64 = { Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)) }
  ) {
    (self.stores, self.models, self.options, self.clock) = (stores, models, options, clock)
  }

  // MARK: handlers

  /// Deals with events inside the store: `body` is called in a write, which is undone when it throws.
  ///
  /// - Parameters:
  ///   - pattern: which stores: "/shared/shop", "/*/orders", "/shared/*" (`PathPattern`).
  ///   - name: of the handler, in every process that runs it, from now on. Throws `ServerEventError` for one that is taken here.
  ///   - condition: which objects: those that match before or after a change.
  public func on<T: Model>(
    store pattern: String, _ type: T.Type, named name: String, where condition: (@Sendable (Field<T>) -> Condition)? = nil,
    _ body: @escaping @Sendable (ServerChange<T>, Store) throws -> Void
  ) throws(ServerEventError) {
    try add(pattern, type, name, condition) { change in { store in try body(change, store) } }
  }

  /// Deals with events by work outside the store: `body` works for as long as it takes, and gives what is to be written, which is one
  /// transaction with the note that the event is dealt with. It comes again when the process dies in between.
  public func on<T: Model>(
    store pattern: String, _ type: T.Type, named name: String, where condition: (@Sendable (Field<T>) -> Condition)? = nil,
    outside body: @escaping @Sendable (ServerChange<T>) async throws -> @Sendable (Store) throws -> Void
  ) throws(ServerEventError) {
    try add(pattern, type, name, condition, body)
  }

  private func add<T: Model>(
    _ text: String, _ type: T.Type, _ name: String, _ condition: (@Sendable (Field<T>) -> Condition)?,
    _ work: @escaping EventHandler<T>.Work
  ) throws(ServerEventError) {
    guard let pattern = PathPattern(text) else { throw .pattern(text) }
    guard StorePath.isPart(name) else { throw .name(name) }
    guard !handlers.contains(where: { $0.handler.name == name }) else { throw .taken(name) }
    let all = models.contains { $0 == T.self } ? models : models + [T.self]
    let handler = EventHandler(name: name, models: all, condition: condition, work: work)
    // What is wrong with the models is said here, and not again and again when it runs.
    do { _ = try handler.replica(of: EventRegistry.path, clock: clock) } catch { throw .models("\(error)") }
    handlers.append((pattern, handler))
  }

  // MARK: running

  /// Makes the handlers' names known to the server, as `run` does at its beginning: from when this returns they miss nothing, whether they
  /// run or not. Throws where the stores cannot be reached, and `CancellationError`.
  public func register() async throws {
    for (pattern, handler) in handlers {
      let registry = EventRegistry(stores: stores, turnMilliseconds: options.leaseMilliseconds, clock: clock)
      // Another process may be at it.
      while !(try await registry.register(handler.name, pattern)) { try await Task.sleep(for: options.pause) }
    }
  }

  /// Runs the handlers that there are now, until the task is cancelled; then all leases are given back.
  public func run() async {
    let wakeups = await stores.wakeups()
    let runs = handlers.map { EventRun($0.handler, $0.pattern, stores, options, clock: clock, tell: notes.tell) }
    await withDiscardingTaskGroup { group in
      for run in runs { group.addTask { await run.run() } }
      group.addTask { for await path in wakeups { for run in runs { await run.wake(path) } } }
      group.addTask { [stores, options] in await ServerEvents.scan(stores, options.pause, runs) }
    }
  }

  /// Wakes each handler for each store once: for those whose news nobody here was told.
  private static func scan(_ stores: any SyncServerStore, _ pause: Duration, _ runs: [EventRun]) async {
    var known: Set<StorePath> = []
    while !Task.isCancelled {
      // Where they cannot be read now, they are the next time.
      for path in (try? await stores.stores()) ?? [] where known.insert(path).inserted { for run in runs { await run.wake(path) } }
      do { try await Task.sleep(for: pause) } catch { return }
    }
  }

  /// What happens from now on.
  public nonisolated func notices() -> AsyncStream<ServerEventNotice> { notes.stream() }
}

extension Duration {
  fileprivate var inMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
