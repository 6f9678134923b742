/// A result of one step on its way to the next.
final class StepResult<T> {
  let value: T

  init(_ value: T) { self.value = value }

  /// The value of a step's result.
  static func value(of cell: AnyObject) -> T {
    // Sound: every step gives the `StepResult` of the type its `StoreIO` says, and only that `StoreIO` or what is made from it
    // by its own type hands the cell on. Debug builds check it.
    unsafeDowncast(cell, to: StepResult<T>.self).value
  }

  /// The value of the first of several results, which is taken off.
  static func value(ofFirst cells: inout ArraySlice<AnyObject>) -> T { value(of: cells.removeFirst()) }
}
