import Dispatch
import Vivarium

extension Store {
  /// Runs an operation here and now, and gives its result.
  ///
  /// One that reads runs on one version, without a transaction: whatever others commit meanwhile, it sees none of it, and a
  /// write inside is refused (`.readOnlyOperation`). One that writes is one transaction, however it is composed; inside an
  /// open write of this store it joins that one. When it fails, everything it wrote is undone, and the error is the one that
  /// was thrown. An operation may call `cancelWrite()`: then nothing of it stays, and its result is given.
  ///
  /// - Parameter tokens: observations that are not notified of what this writes, as with `commitWrite`. Inside an open write that
  ///   one's commit decides.
  /// - Parameter timeout: how long to wait for other writers; nil: as the configuration says.
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

  /// Runs inside the open write: what fails is undone alone.
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
  /// Runs an operation on another thread, with a store of its own; the caller is suspended, not blocked. Operations that
  /// write run in the order in which they were asked for; afterwards this store sees what was written.
  ///
  /// When the task is cancelled, the run stops at its next step with `.cancelled`, and nothing of it stays.
  @discardableResult
  public func runAsync<RW: Access, T: Sendable>(
    io: StoreIO<RW, T>, withoutNotifying tokens: [NotificationToken] = [],
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> T {
    let cancellation = Cancellation()
    let configuration = configuration
    return try await withTaskCancellationHandler {
      if io.isReadWrite {
        // Named, for in this closure `#isolation` is nobody: the store would be refreshed off its context.
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

  /// The same for an operation that gives an object: the object as it lives in this store. `.objectDeleted` when it was
  /// deleted again before this store could see it.
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
  /// Opens the store, runs an operation, and lets the store go.
  @discardableResult
  public func run<RW: Access, T: Sendable>(io: StoreIO<RW, T>) throws -> T {
    try Store(self, isolation: nil).run(io: io)
  }

  /// The same on another thread, where `completion` is called.
  public func runAsync<RW: Access, T: Sendable>(
    io: StoreIO<RW, T>, completion: @escaping @Sendable (Result<T, any Error>) -> Void
  ) {
    DispatchQueue.global().async { completion(Result { try run(io: io) }) }
  }
}
