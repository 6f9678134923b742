import Storage
import Values

/// One type in one store: where its columns are, and the windows through which its objects are read.
///
/// Confined like its store, and as long-lived.
public final class ModelContext {
  /// A property with its place in the file.
  struct BoundProperty {
    let schema: PropertySchema
    let column: ColumnID
    /// For inverses: the relationship that is followed back.
    let origin: ColumnID?
  }

  /// The store owns its contexts, and everything that leads here keeps the store.
  unowned let store: Store
  let schema: ObjectSchema
  /// Table 0 is none: the type is not among the store's.
  let table: TableID
  let properties: [BoundProperty]
  let primaryKey: Int?
  let primaryIndex: IndexID?
  let raw: UnsafeMutablePointer<RawContext>
  private let windows: UnsafeMutablePointer<PropertyWindow>
  /// Grows when any value of the type may have changed.
  var tick: UInt64 = 0
  private var spareAdoption: Adoption?

  init(_ store: Store, _ schema: ObjectSchema, in catalog: Catalog) {
    self.store = store
    self.schema = schema
    let entry = catalog[schema.name]
    table = entry?.id ?? TableID(0)
    properties = schema.properties.map { BoundProperty($0, entry, catalog) }
    primaryKey = schema.properties.firstIndex(where: \.isPrimaryKey)
    primaryIndex = entry?.primaryIndex?.id
    let count = max(properties.count, 1)
    windows = .allocate(capacity: count)
    windows.initialize(repeating: PropertyWindow(empty: UnsafeRawPointer(windows)), count: count)
    raw = .allocate(capacity: 1)
    raw.initialize(to: RawContext(windows, self))
  }

  deinit {
    raw.deallocate()
    windows.deallocate()
  }

  func ordinal(named name: String) -> Int? { properties.firstIndex { $0.schema.name == name } }

  /// Forgets what was lent: the memory behind it is about to change.
  func dropWindows() {
    for ordinal in properties.indices { windows[ordinal].count = 0 }
  }

  func open(_ window: ColumnWindow, _ ordinal: Int) {
    windows[ordinal].firstKey = window.firstKey
    windows[ordinal].count = UInt64(window.vector.count)
    windows[ordinal].live = window.live
    windows[ordinal].vector = window.vector
  }

  /// A row to fill: the spare one, unless another adoption is under way or the table has grown columns.
  func adoption(in catalog: Catalog) throws(StoreError) -> Adoption {
    guard let entry = catalog[table] else { throw .unknownType(schema.name) }
    if let spare = spareAdoption, spare.row.count == entry.columns.count {
      spare.reset()
      return spare
    }
    let adoption = Adoption(entry, self)
    spareAdoption = adoption
    return adoption
  }
}

extension ModelContext.BoundProperty {
  fileprivate init(_ schema: PropertySchema, _ entry: TableEntry?, _ catalog: Catalog) {
    self.schema = schema
    column = ColumnID(entry?.id ?? TableID(0), entry?[schema.name]?.id ?? PropertyID(0))
    guard case .linkingObjects(let type, let property) = schema.kind, let source = catalog[type],
      let link = source[property]
    else {
      origin = nil
      return
    }
    origin = source.column(link.id)
  }
}
