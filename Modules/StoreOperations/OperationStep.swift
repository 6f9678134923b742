import Vivarium

/// One node of an operation, without the types of its results: what `StoreIO` composes and `Interpreter` runs.
///
/// A result travels as the `StepResult` of its type. Which type a step gives is known to the `StoreIO` that holds it.
final class OperationStep: @unchecked Sendable {
  // Sound because what `body` holds is `Sendable`, and it is assigned in `init` and in `deinit` alone.

  enum Body: Sendable {
    case leaf(@Sendable (Store) throws -> AnyObject)
    case map(OperationStep, @Sendable (AnyObject) throws -> AnyObject)
    case bind(OperationStep, @Sendable (AnyObject) throws -> OperationStep)
    case recover(OperationStep, @Sendable (any Error) throws -> OperationStep)
    /// Runs the steps in order; gives a `StepResult` of their cells.
    case collect([OperationStep])
    /// Nothing to run: the node is being let go of.
    case ended
  }

  private(set) var body: Body

  init(_ body: Body) { self.body = body }

  convenience init<T>(_ body: @escaping @Sendable (Store) throws -> StepResult<T>) { self.init(.leaf { try body($0) }) }

  deinit {
    // A chain of a million steps must not be let go of by a million nested calls.
    Unlinking.release(&body)
  }
}

extension OperationStep {
  func map<T, U>(_ transform: @escaping @Sendable (T) throws -> U) -> OperationStep {
    OperationStep(.map(self) { StepResult(try transform(StepResult<T>.value(of: $0))) })
  }

  func bind<T>(_ next: @escaping @Sendable (T) throws -> OperationStep) -> OperationStep {
    OperationStep(.bind(self) { try next(StepResult<T>.value(of: $0)) })
  }

  func recover(_ handler: @escaping @Sendable (any Error) throws -> OperationStep) -> OperationStep {
    OperationStep(.recover(self, handler))
  }

  /// Gives a `StepResult` of `[AnyObject]`: the cells of the steps.
  static func collect(_ steps: [OperationStep]) -> OperationStep { OperationStep(.collect(steps)) }
}
