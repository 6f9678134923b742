import StorageInterface
import StoreValues

/// The defaults that a model declares, evaluated for each object separately, so that `UUID()` gives each its own.
struct DeclaredDefaults {
  private let make: (Adoption) throws(StoreError) -> Void
  private let adoption: Adoption
  private let schema: ObjectSchema
  /// See `Model._$computedDefaults`.
  private let computed: Set<Int>
  let entry: TableEntry

  /// Nil if the catalog does not have the type.
  init?<T: Model>(_ type: T.Type, in catalog: Catalog) {
    guard let entry = catalog[T._$name] else { return nil }
    self.entry = entry
    schema = T._$schema
    computed = Set(T._$computedDefaults)
    adoption = Adoption(entry, T._$schema, of: catalog.identity ?? StoreIdentity())
    make = { adoption throws(StoreError) in try T(_$blank: ())._$fill(adoption) }
  }

  /// The row for one more object: the defaults, otherwise null or zero. Valid until the next call. A row has no place for links and
  /// collections, which are `pending`.
  func row() throws(StoreError) -> RowBuffer {
    adoption.reset()
    adoption.collectsMissing = true
    try make(adoption)
    return adoption.row
  }

  /// The links and collections that go with the last row, without empty ones and those of the named properties.
  func pending(without names: some Collection<String>) -> [Adoption.Pending] {
    adoption.pending.filter { !names.contains(schema.properties[$0.ordinal].name) }
  }

  /// The names of required properties without a default.
  var required: [String] { adoption.missing.map { schema.properties[$0].name } }
}

extension DeclaredDefaults {
  /// The default of one property as it was evaluated for the last row.
  struct Evaluated {
    let column: ColumnEntry
    /// Nil for objects, which have to be in the store before anything can link to them.
    let value: CopiedValue?
  }

  /// The defaults of the named properties in the last row, in the order of the schema; without derived properties and inverses.
  /// Throws `.typeMismatch` for a struct whose `encode(to:)` throws.
  func values(_ names: Set<String>) throws(StoreError) -> [Evaluated] {
    var values: [Evaluated] = []
    for (ordinal, property) in schema.properties.enumerated() where names.contains(property.name) {
      guard property.isStored, property.derivation == nil, let column = entry[property.name] else { continue }
      values.append(Evaluated(column: column, value: try value(at: ordinal)))
    }
    return values
  }

  /// The links and collections that go with the last row.
  func linkedValues() throws(StoreError) -> [Evaluated] { try values(Set(adoption.pending.map { schema.properties[$0.ordinal].name })) }

  private func value(at ordinal: Int) throws(StoreError) -> CopiedValue? {
    if let pending = adoption.pending.first(where: { $0.ordinal == ordinal }) { return try pending.copied(for: adoption.store) }
    let property = schema.properties[ordinal]
    switch property.kind {
    case .scalar(.link), .linkingObjects: return .scalar(.null)
    case .scalar: return .scalar(adoption.value(at: ordinal, property))
    case .list, .set: return .list([])
    case .map: return CopiedValue.map(ValueMap())
    }
  }

  /// The properties among `names` whose values must be written to existing objects: the value read from their absent columns, null,
  /// zero or nothing, differs from the one evaluated last, or may do so in another object. Most new properties are not among them, so
  /// their objects need not be touched.
  func evaluated(of names: Set<String>) throws(StoreError) -> Set<String> {
    var result: Set<String> = []
    for (ordinal, property) in schema.properties.enumerated() where names.contains(property.name) {
      guard property.isStored, property.derivation == nil, let column = entry[property.name] else { continue }
      // The catalog has the case of an enum that is written `.case`, and literals.
      let isKnown = property.defaultValue != nil
      if computed.contains(ordinal) {
        if !isKnown || property.cases == nil { result.insert(property.name) }
      } else if !isKnown, try value(at: ordinal)?.isAbsent(in: column) != true {
        result.insert(property.name)
      }
    }
    return result
  }
}

extension CopiedValue {
  /// Whether it is what a column has in objects for which nothing was stored.
  fileprivate func isAbsent(in column: ColumnEntry) -> Bool {
    switch self {
    case .scalar(let value): value == column.absentValue
    case .list(let elements): elements.isEmpty
    case .map(let map): map.isEmpty
    }
  }
}

extension Adoption.Pending {
  /// The value outside of any store; nil if it has objects, which have to be in a store first.
  func copied(for store: StoreIdentity) throws(StoreError) -> CopiedValue? {
    var values: [Value] = []
    switch elements {
    case .objects: return nil
    case .values(let scalars): values = scalars
    case .mixed(let elements):
      for element in elements {
        try element.check(for: store)
        values.append(element.value)
      }
    case .structs(let elements):
      for element in elements { values.append(try element.encoded()) }
    }
    switch shape {
    case .link: return .scalar(values.first ?? .null)
    case .list, .set: return .list(values)
    case .map(let keys):
      let entries = zip(keys, values).map { ValueMap.Entry($0, $1) }
      return CopiedValue.map(ValueMap(entries))
    }
  }
}

extension StoreConfiguration {
  /// The class that is stored under a name: a model, or the class behind a value model; nil if neither has this name.
  func model(named name: String) -> (any Model.Type)? {
    models.lazy.compactMap { type in
      (type as? any Model.Type) ?? (type as? any ValueModel.Type)?._$live
    }.first { $0._$name == name }
  }

  /// The defaults of a type by its name; nil if no model has this name.
  func defaults(of type: String, in catalog: Catalog) -> DeclaredDefaults? {
    guard let model = model(named: type) else { return nil }
    return DeclaredDefaults(model, in: catalog)
  }
}
