import StorageInterface
import StoreValues

/// What a model declares as its properties' defaults, evaluated for one object after another: `UUID()` gives each its own.
struct DeclaredDefaults {
  private let make: (Adoption) throws(StoreError) -> Void
  private let adoption: Adoption
  private let schema: ObjectSchema
  let entry: TableEntry

  /// Nil for a type that is not in the catalog.
  init?<T: Model>(_ type: T.Type, in catalog: Catalog) {
    guard let entry = catalog[T._$name] else { return nil }
    self.entry = entry
    schema = T._$schema
    adoption = Adoption(entry, T._$schema, of: catalog.identity ?? StoreIdentity())
    make = { adoption throws(StoreError) in try T(_$blank: ())._$fill(adoption) }
  }

  /// The row of one more object: its defaults, and null or zero where there is none. Lent until the next call.
  func row() throws(StoreError) -> RowBuffer {
    adoption.reset()
    adoption.collectsMissing = true
    try make(adoption)
    // Links and collections have no defaults that a row could hold.
    adoption.pending = []
    return adoption.row
  }

  /// The scalars of these names in the row that was made last, with their columns.
  func values(_ names: Set<String>) -> [(column: ColumnID, value: Value)] {
    schema.properties.indices.compactMap { ordinal in
      let property = schema.properties[ordinal]
      guard names.contains(property.name), property.isScalar, !property.isRelationship, property.derivation == nil,
        let column = entry[property.name]
      else { return nil }
      return (entry.column(column.id), adoption.value(at: ordinal, property))
    }
  }

  /// The names of properties that have no default and cannot be without a value.
  var required: [String] { adoption.missing.map { schema.properties[$0].name } }

  /// Those of some properties whose values have to be written to objects that are there: what their columns read as by themselves, null or
  /// zero, is not what was evaluated last. Most new properties are none of these, and their objects need not be touched.
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
  /// The defaults of a type by its name; nil where no model has it.
  func defaults(of type: String, in catalog: Catalog) -> DeclaredDefaults? {
    guard let model = models.first(where: { $0._$schema.name == type }) as? any Model.Type else { return nil }
    return DeclaredDefaults(model, in: catalog)
  }
}
