extension CatalogStep: CustomStringConvertible {
  /// A readable form: "added 'Person.age'".
  public var description: String {
    func list(_ properties: [String]) -> String { properties.joined(separator: ", ") }
    return switch self {
    case .createdTable(let type): "created '\(type)'"
    case .addedProperty(let type, let property): "added '\(type).\(property)'"
    case .addedIndex(let type, let properties, let isUnique):
      "added the \(isUnique ? "unique " : "")index of '\(type)' over \(list(properties))"
    case .removedIndex(let type, let properties, let isUnique):
      "dropped the \(isUnique ? "unique " : "")index of '\(type)' over \(list(properties))"
    case .updatedProperty(let type, let property): "updated '\(type).\(property)'"
    case .renamedProperty(let type, let old, let new): "renamed '\(type).\(old)' to '\(type).\(new)'"
    case .renamedType(let old, let new): "renamed '\(old)' to '\(new)'"
    case .retiredProperty(let type, let property): "took out '\(type).\(property)'"
    case .changedEmbedding(let type, let isEmbedded): "made '\(type)' \(isEmbedded ? "embedded" : "a type of its own")"
    }
  }

  /// Whether the step only concerns indexes: everything can be read without it.
  public var isOfIndexes: Bool {
    switch self {
    case .addedIndex, .removedIndex: true
    default: false
    }
  }
}
