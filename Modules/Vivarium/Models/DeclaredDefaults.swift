import StorageInterface
import StoreValues

/// The defaults that a model declares, evaluated for each object separately, so that `UUID()` gives each its own.
struct DeclaredDefaults {
  private let make: (Adoption) throws(StoreError) -> Void
  private let adoption: Adoption
  private let schema: ObjectSchema
  let entry: TableEntry

  /// Nil if the catalog does not have the type.
  init?<T: Model>(_ type: T.Type, in catalog: Catalog) {
    guard let entry = catalog[T._$name] else { return nil }
    self.entry = entry
    schema = T._$schema
    adoption = Adoption(entry, T._$schema, of: catalog.identity ?? StoreIdentity())
    make = { adoption throws(StoreError) in try T(_$blank: ())._$fill(adoption) }
  }

  /// The row for one more object: the defaults, otherwise null or zero. Valid until the next call.
  func row() throws(StoreError) -> RowBuffer {
    adoption.reset()
    adoption.collectsMissing = true
    try make(adoption)
    // A row cannot hold defaults of links and collections.
    adoption.pending = []
    return adoption.row
  }

  /// The values of the named scalars in the last row, with their columns.
  func values(_ names: Set<String>) -> [(column: ColumnID, value: Value)] {
    schema.properties.indices.compactMap { ordinal in
      let property = schema.properties[ordinal]
      guard names.contains(property.name), property.isScalar, !property.isRelationship, property.derivation == nil,
        let column = entry[property.name]
      else { return nil }
      return (entry.column(column.id), adoption.value(at: ordinal, property))
    }
  }

  /// The names of required properties without a default.
  var required: [String] { adoption.missing.map { schema.properties[$0].name } }

  /// The properties among `names` whose values must be written to existing objects: the value read from their absent columns, null
  /// or zero, differs from the one evaluated last. Most new properties are not among them, so their objects need not be touched.
  func evaluated(of names: Set<String>) -> Set<String> {
    var result: Set<String> = []
    for property in schema.properties where names.contains(property.name) && property.defaultValue == nil {
      guard let column = entry[property.name], let found = values([property.name]).first, found.value != column.absentValue
      else { continue }
      result.insert(property.name)
    }
    return result
  }
}

extension StoreConfiguration {
  /// The defaults of a type by its name; nil if no model has this name.
  func defaults(of type: String, in catalog: Catalog) -> DeclaredDefaults? {
    guard let model = models.first(where: { $0._$schema.name == type }) as? any Model.Type else { return nil }
    return DeclaredDefaults(model, in: catalog)
  }
}
