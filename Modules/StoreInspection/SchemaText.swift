#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// A schema from the JSON that `inspect schema --format json` prints.
public enum SchemaText {
  /// Throws status `.usage` if `json` is not such a document. Ignores unknown names. Does not validate the schema itself.
  public static func schema(_ json: Data) throws(InspectionError) -> Schema {
    guard let node = try? JSONDecoder().decode(JSONNode.self, from: json), case .array(let types) = node else {
      throw refused("The schema is no JSON list of types, as 'inspect schema --format json' prints it.")
    }
    var objects: [ObjectSchema] = []
    for type in types { objects.append(try object(type)) }
    return Schema(objects)
  }

  private static func object(_ node: JSONNode) throws(InspectionError) -> ObjectSchema {
    guard let name = node["type"]?.text, case .array(let members)? = node["properties"] else {
      throw refused("A type of the schema has no 'type' or no 'properties'.")
    }
    var object = ObjectSchema(name: name, properties: [], isEmbedded: node["embedded"]?.truth ?? false)
    for member in members { object.properties.append(try property(member, of: name)) }
    if case .array(let indexes)? = node["indexes"] {
      for index in indexes {
        guard case .array(let names)? = index["properties"] else { throw refused("An index of '\(name)' names no properties.") }
        object.indexes.append(
          IndexSchema(properties: names.compactMap(\.text), isUnique: index["unique"]?.truth ?? false))
      }
    }
    return object
  }

  private static func property(_ node: JSONNode, of type: String) throws(InspectionError) -> PropertySchema {
    guard let name = node["name"]?.text, let kindText = node["kind"]?.text else {
      throw refused("A property of '\(type)' has no 'name' or no 'kind'.")
    }
    let target = node["target"]?.text
    guard let kind = kind(kindText, target) else {
      throw refused("'\(type).\(name)' is '\(kindText)', which is no kind of property.")
    }
    let isPrimaryKey = node["primaryKey"]?.truth ?? false
    let isUnique = node["unique"]?.truth ?? false
    var property = PropertySchema(
      name: name, kind: kind, isOptional: node["optional"]?.truth ?? false,
      target: kind.isRelationship ? target : nil, isPrimaryKey: isPrimaryKey,
      isIndexed: (node["indexed"]?.truth ?? false) && !isUnique && !isPrimaryKey, isUnique: isUnique && !isPrimaryKey)
    property.isFullText = node["fullText"]?.truth ?? false
    if let rule = node["deleteRule"]?.text {
      guard let known = DeleteRule(rawValue: rule) else { throw refused("'\(type).\(name)' has the delete rule '\(rule)', which there is not.") }
      property.deleteRule = known
    }
    if let derived = node["derived"] {
      guard let function = derived["function"]?.text.flatMap({ Derivation.Function(rawValue: $0) }),
        let relationship = derived["relationship"]?.text
      else { throw refused("'\(type).\(name)' is derived in a way that there is not.") }
      property.derivation = Derivation(function, of: derived["property"]?.text, over: relationship)
    }
    if case .array(let nodes)? = node["cases"], let valueType = property.valueType {
      property.cases = try cases(nodes, of: valueType, "\(type).\(name)")
    }
    return property
  }

  /// The raw values of an enum, ascending as the catalog has them.
  private static func cases(_ nodes: [JSONNode], of type: ValueType, _ place: String) throws(InspectionError) -> [DefaultValue] {
    var cases: [DefaultValue] = []
    for node in nodes {
      guard let raw = GraphText.value(node, as: type).flatMap({ DefaultValue($0) }) else {
        throw refused("'\(place)' has a case that is no \(type.rawValue).")
      }
      cases.append(raw)
    }
    return cases.sorted()
  }

  /// Parses `string`, `list of link`, `inverse` with its target `Type.property`.
  private static func kind(_ text: String, _ target: String?) -> PropertyKind? {
    if text == "inverse" {
      guard let target, let point = target.lastIndex(of: ".") else { return nil }
      return .linkingObjects(origin: String(target[..<point]), property: String(target[target.index(after: point)...]))
    }
    let words = text.split(separator: " ")
    guard let type = words.last.flatMap({ ValueType(rawValue: String($0)) }) else { return nil }
    if words.count == 1 { return .scalar(type) }
    guard words.count == 3, words[1] == "of" else { return nil }
    switch words[0] {
    case "list": return .list(type)
    case "set": return .set(type)
    case "map": return .map(type)
    default: return nil
    }
  }

  private static func refused(_ message: String) -> InspectionError {
    InspectionError(.usage, DisplayText.escaped(message))
  }
}

extension PropertyKind {
  fileprivate var isRelationship: Bool {
    switch self {
    case .scalar(let type), .list(let type), .set(let type), .map(let type): type == .link
    case .linkingObjects: false
    }
  }
}

extension JSONNode {
  fileprivate subscript(name: String) -> JSONNode? {
    guard case .object(let members) = self, let member = members[name] else { return nil }
    if case .null = member { return nil }
    return member
  }

  fileprivate var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  fileprivate var truth: Bool? {
    if case .bool(let truth) = self { truth } else { nil }
  }
}
