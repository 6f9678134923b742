import Dispatch
import Vivarium

extension Store {
  /// Runs an operation on this thread and returns its result.
  ///
  /// A reading operation runs on one version, without a transaction: it sees nothing that others commit meanwhile, and a write
  /// inside it is rejected (`.readOnlyOperation`). A writing operation is one transaction, however it is composed; inside an open
  /// write of this store it joins that write. If it fails, all its changes are undone, and its error is rethrown. If an operation
  /// calls `cancelWrite()`, its changes are undone and its result is returned.
  ///
  /// - Parameter tokens: observations that this write does not notify, as with `commitWrite`. Inside an open write, the commit of
  ///   that write decides.
  /// - Parameter timeout: how long to wait for other writers; nil: the configuration's timeout.
  @discardableResult
  public func run<RW: Access, T>(
    io: StoreIO<RW, T>, withoutNotifying tokens: [NotificationToken] = [], timeout: Duration? = nil
  ) throws -> T {
    try run(io, tokens, timeout: timeout, nil)
  }

  func run<RW: Access, T>(
    _ io: StoreIO<RW, T>, _ tokens: [NotificationToken] = [], timeout: Duration? = nil, _ cancellation: Cancellation?
  ) throws -> T {
    if io.isReadOnly { return try readOnly { try interpret(io, cancellation) } }
    if isInWriteTransaction { return try join(io, cancellation) }
    try beginWrite(timeout: timeout)
    do {
      let result = try interpret(io, cancellation)
      if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
      return result
    } catch {
      cancelWrite()
      throw error
    }
  }

  /// Runs inside the open write. A failure undoes only the operation's own changes.
  private func join<RW: Access, T>(_ io: StoreIO<RW, T>, _ cancellation: Cancellation?) throws -> T {
    guard let savepoint = try beginSavepoint() else { return try interpret(io, cancellation) }
    let result = Result { try interpret(io, cancellation) }
    switch result {
    case .success(let value):
      try release(savepoint)
      return value
    case .failure(let error):
      try rollBack(to: savepoint)
      throw error
    }
  }

  private func interpret<RW: Access, T>(_ io: StoreIO<RW, T>, _ cancellation: Cancellation?) throws -> T {
    var interpreter = Interpreter(self, cancellation)
    return StepResult<T>.value(of: try interpreter.result(of: io.step))
  }
}

// MARK: - Elsewhere

extension Store {
  /// Runs an operation on another thread, with a store of its own; suspends the caller without blocking it. Writing operations run
  /// in the order of the calls; afterwards this store sees their changes.
  ///
  /// If the task is cancelled, the run stops at its next step with `.cancelled`, and its changes are undone.
  @discardableResult
  public func runAsync<RW: Access, T: Sendable>(
    io: StoreIO<RW, T>, withoutNotifying tokens: [NotificationToken] = [],
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> T {
    let cancellation = Cancellation()
    let configuration = configuration
    return try await withTaskCancellationHandler {
      if io.isReadWrite {
        // Passed explicitly: in this closure `#isolation` is nil, so the store would be refreshed off its context.
        return try await write(withoutNotifying: tokens, isolation: isolation) { store in try store.run(io, [], cancellation) }
      }
      return try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Result { try Store(configuration, isolation: nil).run(io, [], cancellation) })
        }
      }
    } onCancel: {
      cancellation.request()
    }
  }

  /// Runs an operation that returns an object, and returns that object in this store. Throws `.objectDeleted` if it was deleted
  /// before this store could read it.
  @discardableResult
  public func runAsync<RW: Access, T: Model>(
    io: StoreIO<RW, T>, withoutNotifying tokens: [NotificationToken] = [],
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> T {
    let reference = try await runAsync(io: io.map { $0.reference }, withoutNotifying: tokens)
    if !isInWriteTransaction { refresh() }
    guard let object = resolve(reference) else {
      throw StoreError(
        .objectDeleted, "The \(T._$name) object that the operation gave is not in the store any more.",
        details: ["type": T._$name, "key": "\(reference.id.key.rawValue)"])
    }
    return object
  }

  /// Runs an operation on another thread and calls `completion` there.
  public func runAsync<RW: Access, T: Sendable>(
    io: StoreIO<RW, T>, completion: @escaping @Sendable (Result<T, any Error>) -> Void
  ) {
    configuration.runAsync(io: io, completion: completion)
  }
}

extension StoreConfiguration {
  /// Opens the store, runs an operation, and releases the store.
  @discardableResult
  public func run<RW: Access, T: Sendable>(io: StoreIO<RW, T>) throws -> T {
    try Store(self, isolation: nil).run(io: io)
  }

  /// Opens the store and runs an operation on another thread, and calls `completion` there.
  public func runAsync<RW: Access, T: Sendable>(
    io: StoreIO<RW, T>, completion: @escaping @Sendable (Result<T, any Error>) -> Void
  ) {
    DispatchQueue.global().async { completion(Result { try run(io: io) }) }
  }
}
