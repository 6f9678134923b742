import Values

/// What is asked of a column for each row, without references: reading it retains nothing.
struct ColumnTraits {
  let form: ColumnShape.Form
  let isScalar: Bool
  let isList: Bool
  let isOptional: Bool
  /// Integers of fewer than 64 bits: what fits.
  let isRanged: Bool
  let lowest: Int64
  let highest: Int64

  init(_ shape: ColumnShape) {
    form = shape.form
    isScalar = shape.isScalar
    isList = shape.isList
    isOptional = shape.isOptional
    isRanged = shape.integerRange != nil
    lowest = shape.integerRange?.lowerBound ?? .min
    highest = shape.integerRange?.upperBound ?? .max
  }

  @inline(__always) func fits(_ word: Int64) -> Bool { !isRanged || (word >= lowest && word <= highest) }
}
