import StoreValues

/// One edit of a list. Positions count from 0 in the list at the time of the edit.
public enum ElementEdit: Sendable, Hashable {
  /// Inserts before position `at`, which may be the list's count.
  case insert(at: Int, [Value])
  case remove(Range<Int>)
  case set(at: Int, Value)
  /// Removes the element at `from` and inserts it so that its new position is `to`.
  case move(from: Int, to: Int)
  case clear

  /// The inserted values.
  package var given: [Value] {
    switch self {
    case .insert(_, let values): values
    case .set(_, let value): [value]
    case .remove, .move, .clear: []
    }
  }
}
