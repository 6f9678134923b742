import QueryModel
import StorageInterface
import StoreValues

/// A test of decimals and mixed values, which must be decoded: their bytes do not sort as they do.
struct ValueTest: Sendable {
  let type: ValueType
  let comparator: ComparisonOperator
  /// Never null; more than one only for `IN`.
  let constants: [Value]

  init(_ type: ValueType, _ comparator: ComparisonOperator, _ constants: [Value]) {
    self.type = type
    self.comparator = comparator
    self.constants = constants
  }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let value = Value(bytes: bytes, type: type) else { return false }
    return constants.contains { Semantics.holds(value, comparator, $0) }
  }
}
