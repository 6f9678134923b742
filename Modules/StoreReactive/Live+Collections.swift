#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import ChangeTracker
import Vivarium

/// The changes between two values of a stream, as positions: deletions and updates in the previous value's collection, insertions in this
/// one's.
public struct LiveChanges: Sendable, Hashable {
  /// Deleted rows, in the previous value's collection.
  public let deleted: [Int]
  /// Inserted rows, in this value's collection.
  public let inserted: [Int]
  /// Rows that stayed and have other values, in the previous value's collection.
  public let updated: [Int]
  /// The same rows, in this value's collection.
  public let updatedInNew: [Int]

  /// Creates changes, for tests of code that takes them.
  public init(deleted: [Int] = [], inserted: [Int] = [], updated: [Int] = [], updatedInNew: [Int] = []) {
    self.deleted = deleted
    self.inserted = inserted
    self.updated = updated
    self.updatedInNew = updatedInNew
  }
}

extension Live {
  /// The collection at once and after every change.
  ///
  /// - Parameter synchronousStart: whether the first value comes inside the subscription, and shows the store as it is then; every later
  ///   one continues from there, so no change is lost or delivered twice. Otherwise the first value comes with the next turn of the
  ///   context.
  /// - Parameter keyPaths: the properties whose modification counts; nil: all, and those of linked objects.
  public static func collection<T: Model>(
    from results: Results<T>, synchronousStart: Bool = true, keyPaths: [PartialKeyPath<T>]? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<Results<T>> {
    observing(results, synchronousStart, keyPaths, isolation) { results, _ in results }
  }

  /// An array at once and after every change. Each value costs time and memory for all objects.
  public static func array<T: Model>(
    from results: Results<T>, synchronousStart: Bool = true, keyPaths: [PartialKeyPath<T>]? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<[T]> {
    observing(results, synchronousStart, keyPaths, isolation) { results, _ in results.toArray() }
  }

  /// The collection with nil at once, then with its changes.
  public static func changeset<T: Model>(
    from results: Results<T>, synchronousStart: Bool = true, keyPaths: [PartialKeyPath<T>]? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<(Results<T>, LiveChanges?)> {
    observing(results, synchronousStart, keyPaths, isolation) { ($0, $1) }
  }

  /// An array with nil at once, then with its changes. Each value costs time and memory for all objects.
  public static func arrayWithChangeset<T: Model>(
    from results: Results<T>, synchronousStart: Bool = true, keyPaths: [PartialKeyPath<T>]? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) -> LivePublisher<([T], LiveChanges?)> {
    observing(results, synchronousStart, keyPaths, isolation) { ($0.toArray(), $1) }
  }

  private static func observing<T: Model, Output>(
    _ results: Results<T>, _ synchronousStart: Bool, _ keyPaths: [PartialKeyPath<T>]?,
    _ isolation: isolated (any Actor)?, _ output: @escaping (Results<T>, LiveChanges?) -> Output
  ) -> LivePublisher<Output> {
    let names = keyPaths.map { $0.map { SortKey($0).path.description } }
    return LivePublisher(results.store, isolation) { subscription in
      if let error = results.error {
        subscription.end(.failure(error))
        return .none
      }
      return tracking(results, names, synchronousStart, subscription, output)
    }
  }

  private static func tracking<T: Model, Output>(
    _ results: Results<T>, _ names: [String]?, _ synchronousStart: Bool, _ subscription: LiveSubscription<Output>,
    _ output: @escaping (Results<T>, LiveChanges?) -> Output
  ) -> LivePublisher<Output>.Source {
    let tracking = ResultsTracking(
      results, names: names, startsNow: synchronousStart, isolation: nil, fileID: #fileID, line: #line,
      wants: { [weak subscription] in subscription?.wants ?? false }
    ) { [weak subscription] step in
      switch step {
      case .initial: subscription?.send(output(results, nil))
      case .moved: break  // the writer already shows it
      case .update(_, let changes, _): subscription?.send(output(results, LiveChanges(changes)))
      case .error(let error): subscription?.end(.failure(error))
      }
    }
    if synchronousStart { subscription.send(output(results, nil)) }
    return .init(tokens: [tracking.token], wake: tracking.resume)
  }
}

extension LiveChanges {
  init(_ changes: ChangeSet) {
    self.init(
      deleted: changes.deletions, inserted: changes.insertions, updated: changes.modifications,
      updatedInNew: changes.modificationsInNew)
  }
}
