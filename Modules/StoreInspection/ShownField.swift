#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// One property of one object, ready for display.
enum ShownField: Hashable {
  /// A scalar. Links appear only as `.null`; lists and maps inside mixed values use the cases below.
  case value(Value)
  /// A link to an object: its type (nil: a type that the store lacks), and its primary key, or null if it has none that can be
  /// read.
  case object(ObjectKey, of: String?, primaryKey: Value)
  /// A list or set with `count` elements, possibly only its first ones.
  case list([ShownField], count: Int)
  /// A map with `count` entries, possibly only its first ones, in key order.
  case map([Entry], count: Int)

  struct Entry: Hashable {
    let key: String
    let value: ShownField
  }
}

extension ShownField {
  /// The canonical text of a scalar, which programs read back; JSON strings and CSV fields use it. nil for null and for
  /// collections. Numbers are exact: the shortest decimal that reads as the same value.
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

  /// Whether a map in a mixed value, written as JSON, would be read as a reference to an object, or as a map that is marked as none.
  var isAmbiguous: Bool {
    guard case .map(let entries, _) = self, entries.count == 1, let entry = entries.first else { return false }
    switch entry.value {
    case .value(.string): return entry.key == GraphText.reference
    case .map: return entry.key == GraphText.map
    default: return false
    }
  }

  /// The name of an object in JSON, as in encoded objects: its `objectIdentifier`. nil if the field is not an object with a type.
  var objectIdentifier: String? {
    guard case .object(let key, let type?, let primaryKey) = self else { return nil }
    return "\(type)-\(ShownField.value(primaryKey).scalarText ?? String(key.rawValue))"
  }

  static func nonFiniteText(_ number: Double) -> String {
    number.isNaN ? "NaN" : (number < 0 ? "-Infinity" : "Infinity")
  }
}
