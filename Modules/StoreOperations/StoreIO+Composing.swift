import Vivarium

extension StoreIO {
  /// The result of this one, changed by `transform`, which runs inside the transaction.
  public func map<U>(_ transform: @escaping @Sendable (T) throws -> U) -> StoreIO<RW, U> {
    StoreIO<RW, U>(step.map { (value: T) in try transform(value) }, mode)
  }

  /// This one, then the operation made from its result: one transaction, or one version where both read.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreIO<RW, U>) -> StoreIO<RW, U> {
    StoreIO<RW, U>(step.bind { (value: T) in try next(value).step }, RW.mode ?? .readWrite)
  }

  /// The result of this one where it passes the test; otherwise the run fails with `error`, by default a `StoreError`
  /// with the code `.conditionNotMet`.
  public func filter(
    _ isIncluded: @escaping @Sendable (T) throws -> Bool,
    otherwise error: @autoclosure @escaping @Sendable () -> any Error = StoreError.conditionNotMet
  ) -> Self {
    map { value in
      guard try isIncluded(value) else { throw error() }
      return value
    }
  }

  /// This one, and where it fails the operation made from the error instead. What this one wrote before it failed is undone.
  ///
  /// A run that is cancelled is not recovered.
  public func recover(_ handler: @escaping @Sendable (any Error) throws -> Self) -> Self {
    StoreIO(step.recover { error in try handler(error).step }, RW.mode ?? .readWrite)
  }

  /// This one, again and at most `count` times more while it fails with an error that `isTransient` accepts.
  /// What a failed attempt wrote is undone; all attempts share one transaction.
  public func retry(
    _ count: Int, while isTransient: @escaping @Sendable (any Error) -> Bool = { _ in true }
  ) -> Self {
    guard count > 0 else { return self }
    return recover { error in
      guard isTransient(error) else { throw error }
      return retry(count - 1, while: isTransient)
    }
  }

  /// Changes the result in place and gives it on: `find(7).modify { $0.age += 1 }`. Writes.
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

  /// What comes may write, so the run must be able to.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> AnyStoreIO<U>) -> AnyStoreIO<U> {
    AnyStoreIO(step.bind { (value: T) in try next(value).step }, .readWrite)
  }
}

extension StoreIO where RW == ReadWrite {
  /// Writing, then reading, writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRO<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }

  /// Writing, then whatever comes, writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> AnyStoreIO<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }
}

extension StoreIO where RW == AnyAccess {
  /// Whatever this is: with writing it writes.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRW<U>) -> StoreRW<U> {
    StoreRW(step.bind { (value: T) in try next(value).step }, .readWrite)
  }

  /// Reading adds nothing: this stays what it is.
  public func flatMap<U>(_ next: @escaping @Sendable (T) throws -> StoreRO<U>) -> AnyStoreIO<U> {
    AnyStoreIO(step.bind { (value: T) in try next(value).step }, mode)
  }
}

extension StoreError {
  /// What `filter` fails with unless it is given an error.
  public static var conditionNotMet: StoreError {
    StoreError(.conditionNotMet, "The result of an operation did not meet its condition.")
  }
}

extension StoreError.Code {
  /// The result of an operation did not pass its `filter`.
  public static let conditionNotMet = Self(rawValue: "conditionNotMet")
}
