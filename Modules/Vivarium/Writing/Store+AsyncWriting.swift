import Dispatch
import Notifications
import StorageInterface

extension Store {
  /// Runs `body` in a write on another thread, with a store of its own; the caller is suspended, not blocked. Writes run in the
  /// order of the calls. When this returns, the calling store sees the changes.
  ///
  /// ```swift
  /// let count = try await store.write { store in
  ///   for name in names { try store.add(Person(name: name)) }
  ///   return store.objects(Person.self).count
  /// }
  /// ```
  ///
  /// Throws `.cancelled` at once if the task is cancelled before the write begins; if it is cancelled while `body` runs, the whole
  /// write is undone. `.writeTimeout` counts from the call. `.alreadyInWrite` while a write of this store is open, because it would
  /// have to wait for that; `writeAsync` does wait.
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

  /// The asynchronous `write` for synchronous code: returns at once. `onComplete` runs on the store's context, after the store was
  /// refreshed, with the error if there was one; without a context it runs on the worker.
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

  /// Cancels a requested write; see `AsyncWrite.cancel()`.
  @discardableResult
  public func cancelAsyncWrite(_ write: AsyncWrite) -> Bool { write.cancel() }

  /// For long bodies of asynchronous writes: throws `.cancelled` if the write was cancelled. The write is undone if the body passes
  /// the error on.
  public func checkCancellation() throws(StoreError) {
    if writer.request?.isCancelled == true { throw .cancelledWrite }
  }

  /// Runs a long job on another thread with a store of its own, which ends with the job: it may read, and write any number of
  /// times, and holds a version only while it runs.
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
  /// Runs `body` with a store of its own on a system thread.
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
  /// Opens the store if needed and writes, from any code, without a store at hand. See the asynchronous `Store.write`. When this
  /// returns, the stores that the caller's actor has of the file see the changes.
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

  /// Opens the store if needed and reads one version on another thread.
  public func read<R: Sendable>(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (Store) throws -> R
  ) async throws -> R {
    let shared = try await Store.prepareElsewhere(self).shared
    return try await shared.read(self, place: "\(fileID):\(line)", body).get()
  }
}
