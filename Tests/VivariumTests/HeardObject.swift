import StoreValues
import Vivarium

/// What one observer of an object heard, as text: `age 1 -> 2`, or by names alone `age`.
final class HeardObject {
  private var calls: [String] = []
  private let text: (PropertyChange) -> String

  init(_ text: @escaping (PropertyChange) -> String = \.text) { self.text = text }

  func hear(_ change: ObjectChange) {
    switch change {
    case .change(let properties): calls.append(properties.map(text).joined(separator: ", "))
    case .deleted: calls.append("deleted")
    case .error(let error): calls.append("error \(error.code.rawValue)")
    }
  }

  func take() -> [String] {
    defer { calls = [] }
    return calls
  }
}

extension PropertyChange {
  fileprivate var text: String {
    if let elements { return "\(name) -\(elements.deletions) +\(elements.insertions) ~\(elements.modifications)" }
    return "\(name) \(oldValue?.text ?? "-") -> \(newValue?.text ?? "-")"
  }
}

extension Value {
  fileprivate var text: String {
    switch self {
    case .int(let x): "\(x)"
    case .string(let x): x
    case .null: "nil"
    default: "\(self)"
    }
  }
}
