import QueryModel
import StoreValues

/// A class of types that may be compared with each other. Null may be compared with every class.
enum ValueClass: Sendable {
  case bool, number, string, data, date, objectId, uuid, link
  /// Comparable with every class, by the class of the actual values.
  case mixed
  /// The result of `@type`.
  case typeName

  init(_ type: ValueType) {
    self =
      switch type {
      case .bool: .bool
      case .int8, .int16, .int32, .int64, .float, .double, .decimal: .number
      case .string: .string
      case .data: .data
      case .date: .date
      case .objectId: .objectId
      case .uuid: .uuid
      case .mixed: .mixed
      case .link: .link
      }
  }

  /// Whether the operator accepts operands of the class.
  func allows(_ comparator: ComparisonOperator) -> Bool {
    switch comparator {
    case .equal, .notEqual, .in: true
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: self != .link && self != .typeName
    case .contains, .beginsWith, .endsWith, .like, .matches: isText
    case .text: self == .string
    }
  }

  /// Whether its values can be strings, or bytes read as text.
  var isText: Bool { self == .string || self == .data || self == .mixed }

  func compares(with other: ValueClass) -> Bool { self == other || self == .mixed || other == .mixed }
}

extension ComparisonOperator {
  /// The operator with its sides exchanged; nil if there is none.
  var mirrored: ComparisonOperator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    case .in, .between, .contains, .beginsWith, .endsWith, .like, .matches, .text: nil
    }
  }
}
