import Storage
import Values

/// What the engine has to know of one stored property, looked up by its slot: the position of the property in
/// `TableEntry.columns`. A class: it is passed about for each row, and copying it would copy its references.
final class ColumnShape: Sendable {
  /// How the values of a column lie in a chunk.
  enum Form: UInt8 {
    case bit
    case integer
    case float
    case double
    /// Strings and data; lists too, each list as the bytes of one value.
    case bytes
    case fixed16
    /// An inverse: nothing is stored.
    case none

    init(_ type: ValueType) {
      switch type {
      case .bool: self = .bit
      case .int8, .int16, .int32, .int64, .link: self = .integer
      case .float: self = .float
      case .double, .date: self = .double
      case .string, .data, .objectId, .mixed: self = .bytes
      case .uuid, .decimal: self = .fixed16
      }
    }

    @inline(__always) var isWord: Bool { rawValue <= Form.double.rawValue }
  }

  let property: PropertyID
  let name: String
  let form: Form
  let isList: Bool
  /// Of the scalar, or of the list's elements; meaningless for inverses.
  let type: ValueType
  let isOptional: Bool
  /// What rows without a stored value read as.
  let absentWord: Int64
  let absentBytes: ValueBuffer?
  let absentIsNull: Bool
  let integerRange: ClosedRange<Int64>?

  init(_ entry: ColumnEntry) {
    property = entry.id
    name = entry.schema.name
    isList = entry.schema.isList
    type = entry.schema.valueType ?? .int64
    isOptional = entry.schema.isOptional || (entry.schema.isScalar && entry.schema.valueType == .link)
    if entry.schema.isInverse {
      form = .none
    } else {
      form = isList ? .bytes : Form(type)
    }
    if isList || form == .none {
      absentWord = 0
      absentBytes = ValueBuffer([])
      absentIsNull = false
    } else {
      let absent = entry.absentValue
      absentIsNull = absent.isNull
      absentWord = absent.word ?? 0
      absentBytes = absent.withBytes { bytes in bytes.map { ValueBuffer(copying: $0) } } ?? ValueBuffer([UInt8](repeating: 0, count: 16))
    }
    integerRange = form == .integer && type != .link && type != .int64 ? type.integerRange : nil
  }

  var isScalar: Bool { !isList && form != .none }
  var isLink: Bool { isScalar && type == .link }
  var isLinkList: Bool { isList && type == .link }
}
