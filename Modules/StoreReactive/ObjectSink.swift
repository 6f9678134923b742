#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif
import Dispatch
import Vivarium

/// Writes the values of a stream to a store: one transaction for each value, or for each batch if a batch size is given, perhaps with a
/// time after which an incomplete batch is written.
///
/// Ends with its stream, or when it is cancelled.
public final class ObjectSink<Input, Failure: Error>: Subscriber, Cancellable {
  private let batch: Int
  private let onError: (([Input], any Error) -> Void)?
  /// Writes some values; nil once the sink has ended, which also releases the store.
  private var write: (([Input]) throws -> Void)?
  private var waiting: [Input] = []
  private var subscription: (any Subscription)?
  /// The longest time a value waits, and how to return to the sink's context then.
  private let within: Duration?
  private let comeBack: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
  /// When the present batch must be written.
  private var due: ContinuousClock.Instant?
  /// Numbers the batches: a timer belongs to one.
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

  /// Keeps the value, and writes if the batch is full or its time is over.
  public func receive(_ input: Input) -> Subscribers.Demand {
    // An ended sink neither writes nor keeps anything.
    guard write != nil else { return .none }
    waiting.append(input)
    if waiting.count >= batch || due.map({ $0 <= .now }) ?? false { flush() } else if waiting.count == 1 { arm() }
    return .none
  }

  /// Schedules the write of the batch that begins now.
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

  /// Writes the incomplete batch.
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

  /// Ends the sink, after writing the incomplete batch.
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
  /// For a sink without an error handler.
  static func report(_ error: any Error) { StoreLog.warning("A sink could not write: \(error)") }
}

// MARK: - Adding

extension Store {
  /// Adds objects. If one cannot be added, all are unmanaged again before the error is thrown: with their values, which is what somebody
  /// who handles the error wants to keep.
  fileprivate func addOrGiveBack<S: Sequence>(_ objects: S, _ update: UpdatePolicy) throws(StoreError) where S.Element: Model {
    try addingAll { () throws(StoreError) in _ = try add(objects, update: update) }
  }
}

extension Live {
  /// Adds each object of a stream to a store, which the sink keeps until the stream ends or it is cancelled. On the store's context.
  ///
  /// - Parameter batch: the number of objects added in one transaction; fewer at the end.
  /// - Parameter within: how long an object waits at most for its batch to be full; nil: until the end. A store without a context writes
  ///   when the next object comes after that time.
  /// - Parameter onError: called with the objects of the transaction that failed, and the reason. If one could not be added, all are
  ///   unmanaged and as they were before. Without it, the error is logged.
  public static func add<T: Model, Failure: Error>(
    to store: Store, update: UpdatePolicy = .error, batch: Int = 1, within: Duration? = nil,
    onError: (([T], any Error) -> Void)? = nil
  ) -> ObjectSink<T, Failure> {
    ObjectSink(batch: batch, within: within, of: store, onError: onError) { objects in
      try store.write { try store.addOrGiveBack(objects, update) }
    }
  }

  /// The same for a stream of sequences: one transaction for each.
  public static func add<S: Sequence, Failure: Error>(
    all _: S.Type = S.self, to store: Store, update: UpdatePolicy = .error, onError: (([S], any Error) -> Void)? = nil
  ) -> ObjectSink<S, Failure> where S.Element: Model {
    ObjectSink(batch: 1, onError: onError) { sequences in
      try store.write { try store.addOrGiveBack(sequences.joined(), update) }
    }
  }

  /// Adds each object on the thread on which it comes: opens a store for it and releases the store.
  public static func add<T: Model, Failure: Error>(
    configuration: Store.Configuration, update: UpdatePolicy = .error, batch: Int = 1,
    onError: (([T], any Error) -> Void)? = nil
  ) -> ObjectSink<T, Failure> {
    ObjectSink(batch: batch, onError: onError) { objects in
      let store = try Store(configuration, isolation: nil)
      try store.write { try store.addOrGiveBack(objects, update) }
    }
  }

  /// The same for a stream of sequences.
  public static func add<S: Sequence, Failure: Error>(
    all _: S.Type = S.self, configuration: Store.Configuration, update: UpdatePolicy = .error,
    onError: (([S], any Error) -> Void)? = nil
  ) -> ObjectSink<S, Failure> where S.Element: Model {
    ObjectSink(batch: 1, onError: onError) { sequences in
      let store = try Store(configuration, isolation: nil)
      try store.write { try store.addOrGiveBack(sequences.joined(), update) }
    }
  }
}

// MARK: - Deleting

extension Live {
  /// Deletes each object of a stream from a store, which the sink keeps until the stream ends or it is cancelled.
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

  /// Deletes each object from its store. Objects in no store are ignored.
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
  /// Subscribes a sink that writes, and returns what cancels it.
  public func write(with sink: ObjectSink<Output, Failure>) -> AnyCancellable {
    subscribe(sink)
    return AnyCancellable(sink)
  }
}
