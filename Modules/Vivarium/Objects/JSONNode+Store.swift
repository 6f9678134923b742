import Foundation
import StoreValues

extension JSONNode {
  /// The value in the form that `Store.create(_:value:)` accepts.
  var untyped: Any? {
    switch self {
    case .null: nil
    case .bool(let value): value
    case .int(let value): value
    case .double(let value): value
    case .string(let value): value
    case .array(let elements): elements.map(\.untyped)
    case .object(let members): members.mapValues(\.untyped)
    }
  }

  /// Throws `.typeMismatch` if the data is not JSON.
  init(_ data: Data) throws(StoreError) {
    do {
      self = try JSONDecoder().decode(JSONNode.self, from: data)
    } catch {
      throw StoreError(.typeMismatch, "The data is no JSON.", underlying: error)
    }
  }
}

extension JSONNode {
  /// A mixed value as JSON: types without a JSON form become text, data becomes base64, a link null.
  init(_ value: Value) {
    switch value {
    case .null, .link, .object: self = .null
    case .bool(let x): self = .bool(x)
    case .int(let x): self = .int(x)
    case .float(let x): self = x.isFinite ? .double(Double(x)) : .string("\(x)")
    case .double(let x): self = x.isFinite ? .double(x) : .string("\(x)")
    case .string(let x): self = .string(x)
    case .data(let x): self = .string(x.base64EncodedString())
    case .date, .uuid, .objectId, .decimal: self = .string(value.description)
    case .list(let x): self = .array(x.map { JSONNode($0) })
    case .map(let x): self = .object(Dictionary(x.entries.map { ($0.key, JSONNode($0.value)) }) { $1 })
    }
  }
}

extension Value {
  /// JSON as a mixed value.
  init(mixed node: JSONNode) {
    switch node {
    case .null: self = .null
    case .bool(let x): self = .bool(x)
    case .int(let x): self = .int(x)
    case .double(let x): self = .double(x)
    case .string(let x): self = .string(x)
    case .array(let x): self = .list(x.map { Value(mixed: $0) })
    case .object(let x): self = .map(ValueMap(x.map { ValueMap.Entry($0.key, Value(mixed: $0.value)) }))
    }
  }
}
