import Synchronization
import Vivarium

/// Runs steps with a stack of its own, so that neither long nor deep chains need the thread's stack.
///
/// For one run, on one thread.
struct Interpreter {
  /// A step that waits for a result.
  private enum Frame {
    case map(@Sendable (AnyObject) throws -> AnyObject)
    case bind(@Sendable (AnyObject) throws -> OperationStep)
    case recover(@Sendable (any Error) throws -> OperationStep, Store.OpenSavepoint?)
    case collect([OperationStep], Gathering)
  }

  /// A class, so that a long list is not copied for each of its results.
  private final class Gathering {
    var results: [AnyObject] = []
  }

  /// What to do after a step.
  private enum Turn {
    case run(OperationStep)
    case give(AnyObject)
  }

  private let store: Store
  private let cancellation: Cancellation?
  private var frames: [Frame] = []

  init(_ store: Store, _ cancellation: Cancellation? = nil) {
    self.store = store
    self.cancellation = cancellation
  }

  /// The step's result. Throws the error that no `recover` handled.
  mutating func result(of step: OperationStep) throws -> AnyObject {
    var turn = Turn.run(step)
    while true {
      // Outside the `do`, so that no `recover` handles a cancellation.
      if let cancellation, cancellation.isRequested { throw StoreError.cancelledOperation }
      do {
        switch turn {
        case .run(let step): turn = try begin(step)
        case .give(let value):
          guard let frame = frames.popLast() else { return value }
          turn = try resume(frame, value)
        }
      } catch {
        turn = .run(try recover(error))
      }
    }
  }

  private mutating func begin(_ first: OperationStep) throws -> Turn {
    var step = first
    while true {
      switch step.body {
      case .leaf(let body): return .give(try body(store))
      case .map(let source, let transform):
        frames.append(.map(transform))
        step = source
      case .bind(let source, let next):
        frames.append(.bind(next))
        step = source
      case .recover(let source, let handler):
        frames.append(.recover(handler, try store.beginSavepoint()))
        step = source
      case .collect(let steps):
        guard let head = steps.first else { return .give(StepResult<[AnyObject]>([])) }
        frames.append(.collect(steps, Gathering()))
        step = head
      case .ended:
        // Unreachable: a step ends only when it is no longer referenced, and `first` keeps itself and all its steps referenced.
        throw StoreError.cancelledOperation
      }
    }
  }

  private mutating func resume(_ frame: Frame, _ value: AnyObject) throws -> Turn {
    switch frame {
    case .map(let transform): return .give(try transform(value))
    case .bind(let next): return .run(try next(value))
    case .recover(let handler, let savepoint):
      // Only here does an edit that could not throw say that it was rejected; what belongs to the savepoint is undone then.
      do { if let savepoint { try store.release(savepoint) } } catch { return .run(try handler(error)) }
      return .give(value)
    case .collect(let steps, let gathering):
      gathering.results.append(value)
      if gathering.results.count == steps.count { return .give(StepResult(gathering.results)) }
      frames.append(frame)
      return .run(steps[gathering.results.count])
    }
  }

  /// The step that the nearest `recover` returns for an error. Throws if none handles it.
  private mutating func recover(_ error: any Error) throws -> OperationStep {
    var error = error
    while let frame = frames.popLast() {
      guard case .recover(let handler, let savepoint) = frame else { continue }
      do {
        if let savepoint { try store.rollBack(to: savepoint) }
        return try handler(error)
      } catch let next {
        error = next
      }
    }
    throw error
  }
}

/// Asks a run to stop at its next step. From any thread.
final class Cancellation: Sendable {
  private let requested = Atomic(false)

  var isRequested: Bool { requested.load(ordering: .acquiring) }
  func request() { requested.store(true, ordering: .releasing) }
}

extension StoreError {
  static var cancelledOperation: StoreError { StoreError(.cancelled, "The operation was cancelled; what it wrote is undone.") }
}
