/// A fault in a schema, for a person to fix.
public struct SchemaFault: Sendable, Hashable, CustomStringConvertible {
  /// The affected type.
  public let type: String
  /// The affected property; nil if it is the type as a whole.
  public let property: String?
  /// One sentence: the fault.
  public let message: String

  public init(type: String, property: String?, message: String) {
    self.type = type
    self.property = property
    self.message = message
  }

  public var description: String { "\(type)\(property.map { "." + $0 } ?? ""): \(message)" }
}

extension Schema {
  /// All faults of the schema, not only the first (B1). Empty: the schema can be stored.
  public func faults() -> [SchemaFault] {
    var faults: [SchemaFault] = []
    let repeated = Schema.repeated(objects.map(\.name))
    for (i, object) in objects.enumerated() {
      if repeated.contains(i) {
        faults.append(SchemaFault(type: object.name, property: nil, message: "is listed twice"))
      }
      faults += object.faults(in: self)
    }
    return faults + embeddingCircles()
  }

  /// The positions of names that occurred earlier, ascending. By sorting and not with a set: for the first set of strings the
  /// runtime searches every library of the process.
  static func repeated(_ names: [String]) -> [Int] {
    let order = names.indices.sorted { (names[$0], $0) < (names[$1], $1) }
    return zip(order, order.dropFirst()).compactMap { names[$0] == names[$1] ? $1 : nil }.sorted()
  }

  /// Types that embed each other in a cycle: their objects could never be complete.
  private func embeddingCircles() -> [SchemaFault] {
    func embeds(_ object: ObjectSchema) -> [String] {
      object.properties.compactMap { property in
        property.target.flatMap { self[$0]?.isEmbedded == true ? $0 : nil }
      }
    }
    return objects.filter(\.isEmbedded).compactMap { start in
      var (reached, open): (Set<String>, [String]) = ([], embeds(start))
      while let name = open.popLast() {
        if reached.insert(name).inserted, let object = self[name] { open += embeds(object) }
      }
      return reached.contains(start.name)
        ? SchemaFault(type: start.name, property: nil, message: "is embedded in itself") : nil
    }
  }
}

extension ObjectSchema {
  fileprivate func faults(in schema: Schema) -> [SchemaFault] {
    var faults: [SchemaFault] = []
    func fault(_ property: String?, _ message: String) {
      faults.append(SchemaFault(type: name, property: property, message: message))
    }
    if name.isEmpty { fault(nil, "a type needs a name") }
    let repeated = Schema.repeated(properties.map(\.name))
    for (i, property) in properties.enumerated() {
      if repeated.contains(i) { fault(property.name, "is declared twice") }
      for message in property.faults(of: name, in: schema) { fault(property.name, message) }
      for message in property.ruleFaults(of: self, in: schema) { fault(property.name, message) }
    }
    if isEmbedded, primaryKey != nil { fault(nil, "is embedded and cannot have a primary key") }
    if properties.filter(\.isPrimaryKey).count > 1 { fault(nil, "has more than one primary key") }
    for index in indexes {
      if index.properties.isEmpty { fault(nil, "an index needs at least one property") }
      for part in index.properties {
        guard let property = property(named: part) else {
          fault(part, "is named by an index but is no property")
          continue
        }
        if !property.isScalar { fault(part, "cannot be indexed: only scalars and links can") }
      }
    }
    return faults
  }
}

extension PropertySchema {
  fileprivate func faults(of type: String, in schema: Schema) -> [String] {
    var faults: [String] = []
    if name.isEmpty { faults.append("a property needs a name") }
    // Files use this prefix for properties that a migration removed.
    if name.hasPrefix("~") { faults.append("has a name that begins with '~', which no property can have") }
    switch kind {
    case .scalar, .list, .set, .map:
      if valueType == .mixed, !isOptional { faults.append("is mixed, which is always optional") }
      if isSet, valueType == .link, isOptional { faults.append("is a set of links, which cannot hold null") }
      if isSet, let target, schema[target]?.isEmbedded == true {
        faults.append("is a set of '\(target)', which is embedded: use a list or a map")
      }
      if valueType == .link {
        if let target {
          if schema[target] == nil { faults.append("points to '\(target)', which is not among the listed types") }
        } else {
          faults.append("is a relationship without a target type")
        }
      }
      if isPrimaryKey || isIndexed || isUnique, !isScalar { faults.append("cannot be indexed: only scalars and links can") }
      if isFullText, kind != .scalar(.string) { faults.append("has no text: only a string can have an index of its words") }
      if isPrimaryKey, isOptional { faults.append("a primary key cannot be optional") }
      if isPrimaryKey, let valueType, ![.string, .uuid, .objectId, .int8, .int16, .int32, .int64].contains(valueType) {
        faults.append("a primary key is a String, a UUID, an ObjectId or an integer, not \(valueType.rawValue)")
      }
    case .linkingObjects(let origin, let property):
      if isFullText { faults.append("has no text: only a string can have an index of its words") }
      guard let source = schema[origin] else {
        faults.append("is the inverse of '\(origin).\(property)', and '\(origin)' is not among the listed types")
        break
      }
      guard let forward = source.property(named: property), forward.isRelationship else {
        faults.append("is the inverse of '\(origin).\(property)', which is no relationship")
        break
      }
      if forward.target != type { faults.append("is the inverse of '\(origin).\(property)', which points to '\(forward.target ?? "?")'") }
    }
    return faults
  }
}
