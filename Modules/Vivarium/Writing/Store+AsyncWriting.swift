import Dispatch
import Notifications
import StorageInterface

extension Store {
  /// Runs `body` in a write on another thread, with a store of its own; the caller is suspended, not blocked. Writes run in
  /// the order in which they were asked for. When this returns, the calling store sees what was written.
  ///
  /// ```swift
  /// let count = try await store.write { store in
  ///   for name in names { try store.add(Person(name: name)) }
  ///   return store.objects(Person.self).count
  /// }
  /// ```
  ///
  /// `.cancelled` at once when the task is cancelled before the write begins; when it is cancelled while `body` runs,
  /// all of it is undone. `.writeTimeout` counts from the call. `.alreadyInWrite` while a write of this store is open, which
  /// it would have to wait for; `writeAsync` does wait.
  @discardableResult
  public func write<R: Sendable>(
    withoutNotifying tokens: [NotificationToken] = [], author: String? = nil, durability: Durability? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: @escaping @Sendable (Store) throws -> R
  ) async throws -> R {
    try checkNotWriting()
    let result = await shared.perform(
      configuration, withoutNotifying: tokens, author: author, durability: durability, place: opener, body)
    if writing == nil { refresh() }
    return try result.get()
  }

  /// As the asynchronous `write`, for code that is not: returns at once. `onComplete` runs on the store's context, after
  /// the store was refreshed, with the error if there was one; on the worker where there is no context.
  ///
  /// ```swift
  /// store.writeAsync { store in try store.add(Dog(name: "Rex")) } onComplete: { error in … }
  /// ```
  @discardableResult
  public func writeAsync(
    withoutNotifying tokens: [NotificationToken] = [], author: String? = nil, durability: Durability? = nil,
    isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (Store) throws -> Void,
    onComplete: @escaping @Sendable ((any Error)?) -> Void = { _ in }
  ) -> AsyncWrite {
    bind(isolation)
    let request = AsyncWrite()
    let (home, weak) = (home, ConfinedStore(self))
    shared.enqueue(
      request, configuration, withoutNotifying: tokens, author: author, durability: durability, place: opener, body
    ) { result in
      let failure: (any Error)? = if case .failure(let error) = result { error } else { nil }
      home.schedule {
        if let store = weak.store, store.writing == nil { store.refresh() }
        onComplete(failure)
      } otherwise: {
        onComplete(failure)
      }
    }
    return request
  }

  /// Gives up a write that was asked for; see `AsyncWrite.cancel()`.
  @discardableResult
  public func cancelAsyncWrite(_ write: AsyncWrite) -> Bool { write.cancel() }

  /// For the body of an asynchronous write that takes long: throws `.cancelled` when nobody wants it any more. The write
  /// is undone when the body lets the error through.
  public func checkCancellation() throws(StoreError) {
    if writer.request?.isCancelled == true { throw .cancelledWrite }
  }

  /// Runs a long job on another thread with a store of its own, which ends with the job: it may read, and write as often
  /// as it likes, and holds a version no longer than it runs.
  ///
  /// ```swift
  /// let report = try await store.background { store in try makeReport(store) }
  /// ```
  @discardableResult
  public func background<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Store) throws -> R
  ) async throws -> R {
    let result = await shared.read(configuration, place: "\(fileID):\(line)", body)
    if writing == nil { refresh() }
    return try result.get()
  }
}

extension SharedEngine {
  /// Runs `body` with a store of its own on a thread of the system's.
  fileprivate func read<R: Sendable>(
    _ configuration: StoreConfiguration, place: String, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable (Store) throws -> R
  ) async -> Result<R, any Error> {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        continuation.resume(
          returning: Result { try body(Store(configuration, self, home: .manual, place: place)) })
      }
    }
  }
}

extension StoreConfiguration {
  /// Opens the store if need be and writes, from any code, without a store at hand. See the asynchronous `Store.write`. When this
  /// returns, the stores that the caller's actor has of the file see what was written.
  @discardableResult
  public func write<R: Sendable>(
    author: String? = nil, durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line, _ body: @escaping @Sendable (Store) throws -> R
  ) async throws -> R {
    let shared = try await Store.prepareElsewhere(self).shared
    let result = await shared.perform(self, author: author, durability: durability, place: "\(fileID):\(line)", body)
    shared.residents.refresh(of: isolation)
    return try result.get()
  }

  /// Opens the store if need be and reads one version on another thread.
  public func read<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Store) throws -> R
  ) async throws -> R {
    let shared = try await Store.prepareElsewhere(self).shared
    return try await shared.read(self, place: "\(fileID):\(line)", body).get()
  }
}
