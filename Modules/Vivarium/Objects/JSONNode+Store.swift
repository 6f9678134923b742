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
  /// A mixed value as JSON: types without a JSON form become text, data becomes base64, a link a reference to an object of `store`.
  /// Throws if there is a link and no store.
  init(_ value: Value, in store: Store?) throws {
    switch value {
    case .null, .link: self = .null
    case .object(let link): self = try .reference(to: link, in: store)
    case .bool(let x): self = .bool(x)
    case .int(let x): self = .int(x)
    case .float(let x): self = x.isFinite ? .double(Double(x)) : .string("\(x)")
    case .double(let x): self = x.isFinite ? .double(x) : .string("\(x)")
    case .string(let x): self = .string(x)
    case .data(let x): self = .string(x.base64EncodedString())
    case .date, .uuid, .objectId, .decimal: self = .string(value.description)
    case .list(let x): self = .array(try x.map { try JSONNode($0, in: store) })
    case .map(let x):
      let members = Dictionary(ofMap: try x.entries.map { ($0.key, try JSONNode($0.value, in: store)) })
      let node = JSONNode.object(members)
      self = node.isReference || node.quotedMap != nil ? .object([GraphName.map: node]) : node
    }
  }

  /// A link in a mixed value as the links of objects are written: `{"$ref": "Dog-17"}`; null if the object is gone.
  private static func reference(to link: ObjectLink, in store: Store?) throws -> JSONNode {
    guard let store else {
      throw EncodingError.invalidValue(
        link, .init(codingPath: [], debugDescription: "the object that a mixed value links to has a name only in its store: add the owner"))
    }
    guard let identifier = try store.objectIdentifier(of: link) else { return .null }
    return .object([GraphName.reference: .string(identifier)])
  }

  /// Whether it is a reference to an object, or has one in it.
  var refers: Bool {
    switch self {
    case .array(let elements): elements.contains(where: \.refers)
    case .object(let members): isReference || (quotedMap ?? members).values.contains(where: \.refers)
    default: false
    }
  }

  private var isReference: Bool {
    guard case .object(let members) = self, members.count == 1 else { return false }
    guard case .string(let text)? = members[GraphName.reference] else { return false }
    return GraphName.type(in: text) != nil
  }

  /// The members of a map that is written with `GraphName.map` around it; nil for any other node.
  fileprivate var quotedMap: [String: JSONNode]? {
    guard case .object(let members) = self, members.count == 1, case .object(let quoted)? = members[GraphName.map] else { return nil }
    return quoted
  }
}

extension Value {
  /// JSON as a mixed value.
  ///
  /// - Parameter isOfGraph: whether encoded objects have it, where some maps have `GraphName.map` around them.
  init(mixed node: JSONNode, isOfGraph: Bool = false) {
    switch node {
    case .null: self = .null
    case .bool(let x): self = .bool(x)
    case .int(let x): self = .int(x)
    case .double(let x): self = .double(x)
    case .string(let x): self = .string(x)
    case .array(let x): self = .list(x.map { Value(mixed: $0, isOfGraph: isOfGraph) })
    case .object(let members):
      let x = isOfGraph ? node.quotedMap ?? members : members
      self = .map(ValueMap(x.map { ValueMap.Entry($0.key, Value(mixed: $0.value, isOfGraph: isOfGraph)) }))
    }
  }
}
