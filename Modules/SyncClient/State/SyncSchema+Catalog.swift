import StorageInterface
import StoreValues
import SyncModel

extension SyncSchema {
  /// What a file's replicated types are: what `ChangeAuthor` makes operations of.
  init(_ catalog: Catalog, replicates: (String) -> Bool) {
    self.init()
    for table in catalog.tables where replicates(table.name) {
      var properties: [Name: String] = [:]
      for column in table.currentColumns where column.schema.isStored && column.schema.derivation == nil {
        properties[Name(column.schema.name)] = SyncSchema.shape(of: column.schema, catalog)
      }
      classes[Name(table.name)] = properties
    }
  }

  /// What a property holds, in words that all implementations use.
  private static func shape(of schema: PropertySchema, _ catalog: Catalog) -> String? {
    guard let type = schema.valueType else { return nil }
    let content: String
    switch type {
    case .link:
      guard let target = schema.target else { return nil }
      content = catalog[target]?.isEmbedded == true ? "embedded \(target)" : "object \(target)"
    // An integer is an integer, whatever its width is here: a value that has no room suspends the one who has none.
    case .int8, .int16, .int32, .int64: content = "int"
    case .bool, .float, .double, .string, .data, .date, .uuid, .objectId, .decimal, .mixed: content = type.rawValue
    }
    switch schema.kind {
    case .scalar: return content
    case .list: return "list \(content)"
    case .set: return "set \(content)"
    case .map: return "map \(content)"
    case .linkingObjects: return nil
    }
  }
}
