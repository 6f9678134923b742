/// The result of one step, passed to the next.
final class StepResult<T> {
  let value: T

  init(_ value: T) { self.value = value }

  /// The value of a step's result.
  static func value(of cell: AnyObject) -> T {
    // Sound: every step produces the `StepResult` of the type that its `StoreIO` declares, and only that `StoreIO`, or one derived
    // from it with its own type, passes the cell on. Debug builds check it.
    unsafeDowncast(cell, to: StepResult<T>.self).value
  }

  /// Removes the first of several results and returns its value.
  static func value(ofFirst cells: inout ArraySlice<AnyObject>) -> T { value(of: cells.removeFirst()) }
}
