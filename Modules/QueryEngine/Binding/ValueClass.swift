import QueryModel
import StoreValues

/// What may be compared with what: the types of one class, and null with every one.
enum ValueClass: Sendable {
  case bool, number, string, data, date, objectId, uuid, link
  /// Of any class: compares with each, where the values are of one.
  case mixed
  /// What `@type` gives.
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

  /// Whether operands of the class can stand round the operator.
  func allows(_ comparator: ComparisonOperator) -> Bool {
    switch comparator {
    case .equal, .notEqual, .in: true
    case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: self != .link && self != .typeName
    case .contains, .beginsWith, .endsWith, .like, .matches: isText
    case .text: self == .string
    }
  }

  /// Whether its values can be texts, or bytes taken as text.
  var isText: Bool { self == .string || self == .data || self == .mixed }

  func compares(with other: ValueClass) -> Bool { self == other || self == .mixed || other == .mixed }
}

extension ComparisonOperator {
  /// The operator with its sides exchanged; nil where there is none.
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
