import StoreValues

/// A column's per-row properties, without references: reading them retains nothing.
struct ColumnTraits {
  let form: ColumnShape.Form
  let isScalar: Bool
  let isCollection: Bool
  /// A scalar whose byte strings need validation.
  let isChecked: Bool
  /// A scalar whose word is its backlink.
  let linksByWord: Bool
  let isOptional: Bool
  /// An integer type of fewer than 64 bits, with its range.
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
