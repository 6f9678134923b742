import StorageInterface
import StoreValues

/// What the engine has to know of one stored property, looked up by its slot: the position of the property in
/// `TableEntry.columns`. A class: it is passed about for each row, and copying it would copy its references.
final class ColumnShape: Sendable {
  /// How the values of a column lie in a chunk.
  enum Form: UInt8 {
    case bit
    case integer
    case float
    case double
    /// Strings, data, ObjectIds and mixed values; collections too, each as the bytes of one value.
    case bytes
    case fixed16
    /// An inverse: nothing is stored.
    case none

    init(_ type: ValueType) {
      switch type {
      case .bool: self = .bit
      case .int8, .int16, .int32, .int64, .link, .date: self = .integer
      case .float: self = .float
      case .double: self = .double
      case .string, .data, .objectId, .mixed: self = .bytes
      case .uuid, .decimal: self = .fixed16
      }
    }

    @inline(__always) var isWord: Bool { rawValue <= Form.double.rawValue }
  }

  /// How the elements of a collection are kept.
  enum Collection: UInt8 {
    case list
    /// Each once, in the order of values.
    case set
    /// Byte strings of key and value (`MapEntry`), in the order of keys.
    case map
  }

  let property: PropertyID
  let name: String
  let form: Form
  /// nil: a scalar, or an inverse.
  let collection: Collection?
  /// Of the scalar, or of the collection's elements; meaningless for inverses.
  let type: ValueType
  let isOptional: Bool
  /// What rows without a stored value read as.
  let absentWord: Int64
  let absentBytes: ValueBuffer?
  let absentIsNull: Bool
  let integerRange: ClosedRange<Int64>?
  private let isRetired: Bool

  init(_ entry: ColumnEntry) {
    property = entry.id
    name = entry.schema.name
    collection = entry.schema.isList ? .list : entry.schema.isSet ? .set : entry.schema.isMap ? .map : nil
    type = entry.schema.valueType ?? .int64
    isOptional = entry.schema.mayBeNull
    isRetired = entry.isRetired
    if entry.schema.isInverse {
      form = .none
    } else {
      form = collection != nil ? .bytes : Form(type)
    }
    if collection != nil || form == .none {
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

  /// Whether the bytes of a column are dates of files before format 3, which were Doubles. Only one that a migration took out
  /// can have such, and only where rows are dead: those that lived then were emptied. Nobody reads it any more.
  func areOldDates(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isRetired && type == .date && form == .integer && bytes.first == ColumnHeader.Layout.float64.rawValue
  }

  var isCollection: Bool { collection != nil }
  var isScalar: Bool { !isCollection && form != .none }
  /// Whether there are backlinks of the column.
  var hasBacklinks: Bool { form != .none && type.mayLink }
  /// Whether the entries of its backlinks are found in its values one by one: all but a to-one link.
  var linksInside: Bool { hasBacklinks && (isCollection || type == .mixed) }

  /// How the elements of a collection are kept in its runs and segments.
  var elementForm: Form { collection == .map ? .bytes : Form(type) }
  /// What the boxes of those are: entries of a map are plain bytes.
  var elementType: ValueType { collection == .map ? .data : type }
}
