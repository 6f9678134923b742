import StoreValues

/// What is asked of a column for each row, without references: reading it retains nothing.
struct ColumnTraits {
  let form: ColumnShape.Form
  let isScalar: Bool
  let isCollection: Bool
  /// Scalars of bytes that not every byte string is a value of.
  let isChecked: Bool
  /// A scalar whose backlinks are its word.
  let linksByWord: Bool
  let isOptional: Bool
  /// Integers of fewer than 64 bits: what fits.
  let isRanged: Bool
  let lowest: Int64
  let highest: Int64

  init(_ shape: ColumnShape) {
    form = shape.form
    isScalar = shape.isScalar
    isCollection = shape.isCollection
    isChecked = shape.isScalar && (shape.type.fixedByteCount != nil || shape.type == .mixed)
    linksByWord = !shape.isCollection && shape.type != .mixed
    isOptional = shape.isOptional
    isRanged = shape.integerRange != nil
    lowest = shape.integerRange?.lowerBound ?? .min
    highest = shape.integerRange?.upperBound ?? .max
  }

  @inline(__always) func fits(_ word: Int64) -> Bool { !isRanged || (word >= lowest && word <= highest) }
}
