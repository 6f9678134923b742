import StoreValues

/// One edit of a list. Positions count from 0 in the list as it is when the edit is applied.
public enum ElementEdit: Sendable, Hashable {
  /// Before position `at`, which may be the list's count.
  case insert(at: Int, [Value])
  case remove(Range<Int>)
  case set(at: Int, Value)
  /// Takes the element out at `from` and puts it back so that it stands at `to`.
  case move(from: Int, to: Int)
  case clear

  /// The values that it brings.
  package var given: [Value] {
    switch self {
    case .insert(_, let values): values
    case .set(_, let value): [value]
    case .remove, .move, .clear: []
    }
  }
}
