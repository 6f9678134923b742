extension CatalogStep: CustomStringConvertible {
  /// For people: "added 'Person.age'".
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
    }
  }

  /// Whether it is about indexes alone: without it everything can be read.
  public var isOfIndexes: Bool {
    switch self {
    case .addedIndex, .removedIndex: true
    case .createdTable, .addedProperty, .updatedProperty: false
    }
  }
}
