import StoreValues

/// The types of a suite: the store's schema and, for reading values, each property's declared type.
struct CaseSchema {
  let schema: Schema
  /// By type and property.
  let types: [String: [String: PropertySchema]]

  init(_ json: JSONValue, meta: JSONValue?) throws {
    guard let members = json.members else { throw Inexpressible("the schema is no object") }
    var objects: [ObjectSchema] = []
    for member in members {
      let meta = meta?[member.name]
      let indexed = Set((meta?["indexed"]?.array ?? []).compactMap(\.string))
      var properties: [PropertySchema] = []
      for property in member.value.members ?? [] {
        guard let text = property.value.string else { throw Inexpressible("a property's type is no text") }
        var made = try CaseSchema.property(property.name, text)
        made.isPrimaryKey = meta?["primaryKey"]?.string == property.name
        made.isIndexed = indexed.contains(property.name)
        properties.append(made)
      }
      objects.append(
        ObjectSchema(name: member.name, properties: properties, isEmbedded: meta?["embedded"]?.bool ?? false))
    }
    schema = Schema(objects)
    types = Dictionary(
      uniqueKeysWithValues: objects.map { object in
        (object.name, Dictionary(uniqueKeysWithValues: object.properties.map { ($0.name, $0) }))
      })
  }

  /// `int?`, `list<string>`, `link:Person` and the like.
  static func property(_ name: String, _ text: String) throws -> PropertySchema {
    for (word, kind) in collections where text.hasPrefix(word + "<") && text.hasSuffix(">") {
      var made = try property(name, String(text.dropFirst(word.count + 1).dropLast()))
      guard case .scalar(let type) = made.kind else { throw Inexpressible("a collection of collections: \(text)") }
      made.kind = kind(type)
      if type == .link { made.isOptional = word == "dict" }
      return made
    }
    if let target = text.split(separator: ":", maxSplits: 1).last, text.hasPrefix("link:") {
      return PropertySchema(name: name, kind: .scalar(.link), isOptional: true, target: String(target))
    }
    let isOptional = text.hasSuffix("?")
    guard let type = scalars[isOptional ? String(text.dropLast()) : text] else {
      throw Inexpressible("no store holds a property of the type '\(text)'")
    }
    return PropertySchema(name: name, kind: .scalar(type), isOptional: isOptional || type == .mixed)
  }

  private static let scalars: [String: ValueType] = [
    "int": .int64, "bool": .bool, "string": .string, "data": .data, "date": .date, "float": .float, "double": .double,
    "uuid": .uuid, "decimal": .decimal, "objectId": .objectId, "mixed": .mixed, "anylink": .mixed,
  ]

  private static var collections: [(String, (ValueType) -> PropertyKind)] {
    [("list", { .list($0) }), ("set", { .set($0) }), ("dict", { .map($0) })]
  }
}
