#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// One property of one object, ready to be shown.
enum ShownField: Hashable {
  /// A scalar; a link only as `.null`, lists and maps of mixed values as those below.
  case value(Value)
  /// A link to an object: of which type (nil: of none that the store has), and its primary key, or null without a readable one.
  case object(ObjectKey, of: String?, primaryKey: Value)
  /// A list or set, or the first elements of one with `count`.
  case list([ShownField], count: Int)
  /// A map, or the first entries of one with `count`, in the order of its keys.
  case map([Entry], count: Int)

  struct Entry: Hashable {
    let key: String
    let value: ShownField
  }
}

extension ShownField {
  /// The one spelling of a scalar that programs read back: JSON strings and CSV fields are made of it. nil for
  /// null and for collections. Numbers are exact: the shortest decimal that reads as the same value.
  var scalarText: String? {
    switch self {
    case .object(let key, _, .null): return key.description
    case .object(_, _, let value): return ShownField.value(value).scalarText
    case .list, .map: return nil
    case .value(let value):
      switch value {
      case .null: return nil
      case .bool(let x): return x ? "true" : "false"
      case .int(let x): return String(x)
      case .float(let x): return x.isFinite ? x.description : ShownField.nonFiniteText(Double(x))
      case .double(let x): return x.isFinite ? x.description : ShownField.nonFiniteText(x)
      case .string(let x): return x
      case .data(let x): return x.base64EncodedString()
      case .date(let x): return x.description
      case .uuid(let x): return x.uuidString
      case .objectId(let x): return x.description
      case .decimal(let x): return x.description
      case .link(let x): return x.description
      case .object(let x): return x.description
      case .list, .map: return nil
      }
    }
  }

  var isCollection: Bool {
    switch self {
    case .list, .map: true
    case .object, .value: false
    }
  }

  /// How JSON names an object, as encoded objects do: its `objectIdentifier`. nil for what is no object of a type.
  var objectIdentifier: String? {
    guard case .object(let key, let type?, let primaryKey) = self else { return nil }
    return "\(type)-\(ShownField.value(primaryKey).scalarText ?? String(key.rawValue))"
  }

  static func nonFiniteText(_ number: Double) -> String {
    number.isNaN ? "NaN" : (number < 0 ? "-Infinity" : "Infinity")
  }
}
