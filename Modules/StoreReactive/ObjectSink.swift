#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Dispatch
import Vivarium

/// Takes what a stream gives and writes it to a store. One transaction for each value, unless it is given a batch size
/// and perhaps a time within which a batch is written though it is not full.
///
/// Ends with its stream, or when it is cancelled.
public final class ObjectSink<Input, Failure: Error>: Subscriber, Cancellable {
  private let batch: Int
  private let onError: (([Input], any Error) -> Void)?
  /// Writes some values; nil once the sink has ended, and with it goes the store.
  private var write: (([Input]) throws -> Void)?
  private var waiting: [Input] = []
  private var subscription: (any Subscription)?
  /// How long a value waits at most, and who comes back to the sink's context then.
  private let within: Duration?
  private let comeBack: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  /// When the batch that is being filled is to be written.
  private var due: ContinuousClock.Instant?
  /// Counts the batches: a timer is for one.
  private var batchNumber = 0

  init(
    batch: Int, within: Duration? = nil, of store: Store? = nil, onError: (([Input], any Error) -> Void)?,
    _ write: @escaping ([Input]) throws -> Void
  ) {
    self.batch = max(batch, 1)
    self.within = within
    comeBack = store?.scheduler
    self.onError = onError
    self.write = write
  }

  /// Asks for all values; a second subscription is cancelled.
  public func receive(subscription: any Subscription) {
    guard self.subscription == nil, write != nil else { return subscription.cancel() }
    self.subscription = subscription
    subscription.request(.unlimited)
  }

  /// Keeps the value, and writes when a batch is full or its time is over.
  public func receive(_ input: Input) -> Subscribers.Demand {
    // One that has ended writes nothing more, and keeps nothing either.
    guard write != nil else { return .none }
    waiting.append(input)
    if waiting.count >= batch || due.map({ $0 <= .now }) ?? false { flush() } else if waiting.count == 1 { arm() }
    return .none
  }

  /// Has the batch that begins now written in time.
  private func arm() {
    guard let within else { return }
    due = .now + within
    guard let comeBack else { return }
    let (confined, number) = (ConfinedSink(sink: self), batchNumber)
    DispatchQueue.global().asyncAfter(deadline: .now() + within / .seconds(1)) {
      comeBack { confined.sink?.flush(batch: number) }
    }
  }

  fileprivate func flush(batch number: Int) { if number == batchNumber { flush() } }

  /// Writes what is left, and ends.
  public func receive(completion: Subscribers.Completion<Failure>) {
    flush()
    subscription = nil
    write = nil
  }

  /// Writes what waits for its batch to be full.
  public func flush() {
    guard let write, !waiting.isEmpty else { return }
    let values = waiting
    waiting = []
    due = nil
    batchNumber += 1
    do { try write(values) } catch {
      if let onError { onError(values, error) } else { SinkLog.report(error) }
    }
  }

  /// Ends it. What waits for a full batch is written first.
  public func cancel() {
    flush()
    subscription?.cancel()
    subscription = nil
    write = nil
  }
}

/// Carries a sink to a turn of its store's context.
private struct ConfinedSink<Input, Failure: Error>: @unchecked Sendable {
  // Sound because the sink is touched in the block that the store's scheduler runs alone, on the store's context, where
  // the sink lives.
  weak let sink: ObjectSink<Input, Failure>?
}

enum SinkLog {
  /// A sink that nobody gave a way to hear of errors.
  static func report(_ error: any Error) { StoreLog.warning("A sink could not write: \(error)") }
}

// MARK: - Adding

extension Live {
  /// Adds each object that comes to a store, which it keeps until the stream ends or the sink is cancelled. On the
  /// store's context.
  ///
  /// - Parameter batch: how many objects are added in one transaction; fewer at the end.
  /// - Parameter within: how long an object waits at most for its batch to be full; nil: until the end. A store without a
  ///   context writes when the next object comes after that time.
  /// - Parameter onError: hears which objects could not be added, and why. Without it the log does.
  public static func add<T: Model, Failure: Error>(
    to store: Store, update: UpdatePolicy = .error, batch: Int = 1, within: Duration? = nil,
    onError: (([T], any Error) -> Void)? = nil
  ) -> ObjectSink<T, Failure> {
    ObjectSink(batch: batch, within: within, of: store, onError: onError) { objects in
      try store.write { try store.add(objects, update: update) }
    }
  }

  /// The same for a stream of sequences: one transaction for each.
  public static func add<S: Sequence, Failure: Error>(
    all _: S.Type = S.self, to store: Store, update: UpdatePolicy = .error, onError: (([S], any Error) -> Void)? = nil
  ) -> ObjectSink<S, Failure> where S.Element: Model {
    ObjectSink(batch: 1, onError: onError) { sequences in
      try store.write { for objects in sequences { try store.add(objects, update: update) } }
    }
  }

  /// Adds each object that comes, on whichever thread it comes: a store is opened for it and let go of. Keeps none.
  public static func add<T: Model, Failure: Error>(
    configuration: Store.Configuration, update: UpdatePolicy = .error, batch: Int = 1,
    onError: (([T], any Error) -> Void)? = nil
  ) -> ObjectSink<T, Failure> {
    ObjectSink(batch: batch, onError: onError) { objects in
      let store = try Store(configuration, isolation: nil)
      try store.write { try store.add(objects, update: update) }
    }
  }

  /// The same for a stream of sequences.
  public static func add<S: Sequence, Failure: Error>(
    all _: S.Type = S.self, configuration: Store.Configuration, update: UpdatePolicy = .error,
    onError: (([S], any Error) -> Void)? = nil
  ) -> ObjectSink<S, Failure> where S.Element: Model {
    ObjectSink(batch: 1, onError: onError) { sequences in
      let store = try Store(configuration, isolation: nil)
      try store.write { for objects in sequences { try store.add(objects, update: update) } }
    }
  }
}

// MARK: - Deleting

extension Live {
  /// Deletes each object that comes from a store, which it keeps until the stream ends or the sink is cancelled.
  public static func delete<T: Model, Failure: Error>(
    from store: Store, batch: Int = 1, within: Duration? = nil, onError: (([T], any Error) -> Void)? = nil
  ) -> ObjectSink<T, Failure> {
    ObjectSink(batch: batch, within: within, of: store, onError: onError) { objects in
      try store.write { try store.delete(objects) }
    }
  }

  /// The same for a stream of sequences: one transaction for each. An empty one does nothing.
  public static func delete<S: Sequence, Failure: Error>(
    all _: S.Type = S.self, from store: Store, onError: (([S], any Error) -> Void)? = nil
  ) -> ObjectSink<S, Failure> where S.Element: Model {
    ObjectSink(batch: 1, onError: onError) { sequences in
      for sequence in sequences {
        let objects = Array(sequence)
        if !objects.isEmpty { try store.write { try store.delete(objects) } }
      }
    }
  }

  /// Deletes each object that comes from the store it is in. Objects that are in none are left out.
  public static func delete<T: Model, Failure: Error>(
    onError: (([T], any Error) -> Void)? = nil
  ) -> ObjectSink<T, Failure> {
    ObjectSink(batch: 1, onError: onError) { objects in
      guard let store = objects.first?.store else { return }
      try store.write { try store.delete(objects) }
    }
  }

  /// The same for a stream of sequences, each of objects of one store. An empty one does nothing.
  public static func delete<S: Sequence, Failure: Error>(
    all _: S.Type = S.self, onError: (([S], any Error) -> Void)? = nil
  ) -> ObjectSink<S, Failure> where S.Element: Model {
    ObjectSink(batch: 1, onError: onError) { sequences in
      for sequence in sequences {
        let objects = Array(sequence)
        guard let store = objects.first?.store else { continue }
        try store.write { try store.delete(objects) }
      }
    }
  }
}

extension Publisher {
  /// Ends in a sink that writes, and gives what stops it.
  public func write(with sink: ObjectSink<Output, Failure>) -> AnyCancellable {
    subscribe(sink)
    return AnyCancellable(sink)
  }
}
