import Vivarium

/// One node of an operation, without the types of its results: what `StoreIO` composes and `Interpreter` runs.
///
/// A result travels as the `Cell` of its type. Which type a step gives is known to the `StoreIO` that holds it.
final class Step: @unchecked Sendable {
  // Sound because what `body` holds is `Sendable`, and it is assigned in `init` and in `deinit` alone.

  enum Body: Sendable {
    case leaf(@Sendable (Store) throws -> AnyObject)
    case map(Step, @Sendable (AnyObject) throws -> AnyObject)
    case bind(Step, @Sendable (AnyObject) throws -> Step)
    case recover(Step, @Sendable (any Error) throws -> Step)
    /// Runs the steps in order; gives a `Cell` of their cells.
    case collect([Step])
    /// Nothing to run: the node is being let go of.
    case ended
  }

  private(set) var body: Body

  init(_ body: Body) { self.body = body }

  convenience init<T>(_ body: @escaping @Sendable (Store) throws -> Cell<T>) { self.init(.leaf { try body($0) }) }

  deinit {
    // A chain of a million steps must not be let go of by a million nested calls.
    Unlinking.release(&body)
  }
}

extension Step {
  func map<T, U>(_ transform: @escaping @Sendable (T) throws -> U) -> Step {
    Step(.map(self) { Cell(try transform(Cell<T>.value(of: $0))) })
  }

  func bind<T>(_ next: @escaping @Sendable (T) throws -> Step) -> Step {
    Step(.bind(self) { try next(Cell<T>.value(of: $0)) })
  }

  func recover(_ handler: @escaping @Sendable (any Error) throws -> Step) -> Step { Step(.recover(self, handler)) }

  /// Gives a `Cell` of `[AnyObject]`: the cells of the steps.
  static func collect(_ steps: [Step]) -> Step { Step(.collect(steps)) }
}
