import Vivarium

/// One node of an operation, without its result types: `StoreIO` composes nodes and `Interpreter` runs them.
///
/// A result is passed as the `StepResult` of its type. The `StoreIO` that holds a step knows this type.
final class OperationStep: @unchecked Sendable {
  // Sound because the contents of `body` are `Sendable`, and only `init` and `deinit` assign it.

  enum Body: Sendable {
    case leaf(@Sendable (Store) throws -> AnyObject)
    case map(OperationStep, @Sendable (AnyObject) throws -> AnyObject)
    case bind(OperationStep, @Sendable (AnyObject) throws -> OperationStep)
    case recover(OperationStep, @Sendable (any Error) throws -> OperationStep)
    /// Runs the steps in order; produces a `StepResult` of their cells.
    case collect([OperationStep])
    /// Nothing to run: the node is being released.
    case ended
  }

  private(set) var body: Body

  init(_ body: Body) { self.body = body }

  convenience init<T>(_ body: @escaping @Sendable (Store) throws -> StepResult<T>) { self.init(.leaf { try body($0) }) }

  deinit {
    // A chain of a million steps must not be released by a million nested calls.
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

  /// Produces a `StepResult` of `[AnyObject]`: the cells of the steps.
  static func collect(_ steps: [OperationStep]) -> OperationStep { OperationStep(.collect(steps)) }
}
