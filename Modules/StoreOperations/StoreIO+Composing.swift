import Vivarium

extension StoreIO {
  /// Transforms the result. `transform` runs inside the transaction.
  public func map<U>(_ transform: @escaping @Sendable (T) throws -> U) -> StoreIO<RW, U> {
    StoreIO<RW, U>(step.map { (value: T) in try transform(value) }, mode)
  }

  /// Runs this operation, then the one made from its result: in one transaction, or on one version if both read.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreIO<RW, U>) -> StoreIO<RW, U> {
    StoreIO<RW, U>(step.bind { (value: T) in try next(value).step }, RW.mode ?? .readWrite)
  }

  /// Returns the result if it passes the test; otherwise the run fails with `error`, by default a `StoreError` with the code
  /// `.conditionNotMet`.
  public func filter(
    _ isIncluded: @escaping @Sendable (T) throws -> Bool,
    otherwise error: @autoclosure @escaping @Sendable () -> any Error = StoreError.conditionNotMet
  ) -> Self {
    map { value in
      guard try isIncluded(value) else { throw error() }
      return value
    }
  }

  /// Runs this operation and, if it fails, the one made from the error. The changes of the failed one are undone.
  ///
  /// A cancellation is not recovered from.
  public func recover(_ handler: @escaping @Sendable (any Error) throws -> Self) -> Self {
    StoreIO(step.recover { error in try handler(error).step }, RW.mode ?? .readWrite)
  }

  /// Repeats this operation at most `count` times while it fails with an error that `isTransient` accepts. The changes of a failed
  /// attempt are undone; all attempts share one transaction.
  public func retry(
    _ count: Int, while isTransient: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> Self {
    guard count > 0 else { return self }
    return recover { error in
      guard isTransient(error) else { throw error }
      return retry(count - 1, while: isTransient)
    }
  }

  /// Changes the result in place and returns it: `find(7).modify { $0.age += 1 }`. Writes.
  public func modify(_ change: @escaping @Sendable (T) throws -> Void) -> StoreRW<T> {
    StoreRW(
      step.map { (value: T) in
        try change(value)
        return value
      }, .readWrite)
  }
}

// MARK: - What two accesses make

extension StoreIO where RW == ReadOnly {
  /// Reading, then writing, writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRW<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }

  /// The next operation may write, so the whole runs in a transaction.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> AnyStoreIO<U>) -> AnyStoreIO<U> {
    AnyStoreIO(step.bind { (value: T) in try next(value).step }, .readWrite)
  }
}

extension StoreIO where RW == ReadWrite {
  /// Writing, then reading, writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRO<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }

  /// Writing, then any access, writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> AnyStoreIO<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }
}

extension StoreIO where RW == AnyAccess {
  /// Any access, then writing, writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRW<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }

  /// Reading adds nothing: the access stays the same.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRO<U>) -> AnyStoreIO<U> {
    AnyStoreIO(step.bind { (value: T) in try next(value).step }, mode)
  }
}

extension StoreError {
  /// The default error of `filter`.
  public static var conditionNotMet: StoreError {
    StoreError(.conditionNotMet, "The result of an operation did not meet its condition.")
  }
}

extension StoreError.Code {
  /// The result of an operation did not pass its `filter`.
  public static let conditionNotMet = Self(rawValue: "conditionNotMet")
}
