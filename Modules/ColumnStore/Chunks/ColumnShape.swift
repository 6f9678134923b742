import StorageInterface
import StoreValues

/// The engine's description of one stored property, indexed by its slot: the property's position in `TableEntry.columns`. A
/// class, because it is passed around for each row, and a copy would copy its references.
final class ColumnShape: Sendable {
  /// The storage form of a column in a chunk.
  enum Form: UInt8 {
    case bit
    case integer
    case float
    case double
    /// Strings, data, ObjectIds and mixed values; also collections, each as the bytes of one value.
    case bytes
    case fixed16
    /// An inverse, which stores nothing.
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

  /// The kinds of collections.
  enum Collection: UInt8 {
    case list
    /// Distinct values in value order.
    case set
    /// Byte strings of key and value (`MapEntry`) in key order.
    case map
  }

  let property: PropertyID
  let name: String
  let form: Form
  /// nil for a scalar or an inverse.
  let collection: Collection?
  /// The type of the scalar, or of the collection's elements; meaningless for inverses.
  let type: ValueType
  let isOptional: Bool
  /// The value of rows that have none stored.
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

  /// Whether the bytes of a column are dates from before format 3, which were Doubles. Only a column that a migration removed
  /// can have them, and only in dead rows: the migration emptied the live ones. Nothing reads them any more.
  func areOldDates(_ bytes: UnsafeRawBufferPointer) -> Bool {
    isRetired && type == .date && form == .integer && bytes.first == ColumnHeader.Layout.float64.rawValue
  }

  var isCollection: Bool { collection != nil }
  var isScalar: Bool { !isCollection && form != .none }
  /// Whether the column has backlinks.
  var hasBacklinks: Bool { form != .none && type.mayLink }
  /// Whether its links must be extracted from its values: true of all but a to-one link.
  var linksInside: Bool { hasBacklinks && (isCollection || type == .mixed) }

  /// The form of a collection's elements in its runs and segments.
  var elementForm: Form { collection == .map ? .bytes : Form(type) }
  /// The type of those elements as values: entries of a map are plain bytes.
  var elementType: ValueType { collection == .map ? .data : type }
}
