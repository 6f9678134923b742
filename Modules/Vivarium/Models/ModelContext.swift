import ChangeTracker
import StorageInterface
import StoreValues

/// One type in one store: its columns, and the windows through which its objects are read.
///
/// Confined like its store, and as long-lived as it.
public final class ModelContext {
  /// A property with its place in the file.
  struct BoundProperty {
    let schema: PropertySchema
    let column: ColumnID
    /// For inverses: the relationship that is followed backwards.
    let origin: ColumnID?
  }

  /// `unowned(unsafe)`, so that reads count no references. Sound because the store owns its contexts and drops none before its own
  /// end, and every user of a context (an object, a result, a call of the store) retains the store.
  unowned(unsafe) let store: Store
  let schema: ObjectSchema
  /// A copy of the schema's value: read for every object added, where copying the schema would dominate the cost.
  let isEmbedded: Bool
  /// Table 0 means none: the store does not have the type.
  let table: TableID
  let properties: [BoundProperty]
  /// Parallel to `properties`: plain numbers, readable without copying a schema.
  let columns: [ColumnID]
  let names: [String]
  /// Parallel to `properties`: the index over this property alone, if it is a non-optional integer.
  let integerIndexes: [IndexID?]
  let primaryKey: Int?
  let primaryIndex: IndexID?
  @usableFromInline let raw: UnsafeMutablePointer<RawContext>
  private let windows: UnsafeMutablePointer<PropertyWindow>
  /// Increases whenever a value of the type may have changed.
  var tick: UInt64 = 0
  /// Observers of single properties, by object.
  var propertyObservers: [Int64: [any PropertyWatcher]] = [:]
  /// The reads that Observation tracks. Proof: a store is used in one context at a time, and finding a cell calls nothing else.
  @exclusivity(unchecked) var cells = ReadCells()
  private var spareAdoption: Adoption?
  /// The number of the write that created `spareAdoption`.
  private var spareWrite: UInt64 = 0

  init(_ store: Store, _ schema: ObjectSchema, in catalog: Catalog) {
    self.store = store
    self.schema = schema
    isEmbedded = schema.isEmbedded
    let entry = catalog[schema.name]
    table = entry?.id ?? TableID(0)
    properties = schema.properties.map { BoundProperty($0, entry, catalog) }
    columns = properties.map(\.column)
    names = properties.map(\.schema.name)
    integerIndexes = properties.map { property in
      guard let type = property.schema.valueType, property.schema.isScalar, !property.schema.isOptional,
        type.integerRange != nil
      else { return nil }
      return entry?.indexes.first { $0.properties == [property.column.property] }?.id
    }
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

  func ordinal(named name: String) -> Int? { names.firstIndex(of: name) }

  /// Drops the lent windows: the memory behind them is about to change.
  func dropWindows() {
    for ordinal in columns.indices { windows[ordinal].count = 0 }
  }

  func open(_ window: ColumnWindow, _ ordinal: Int) {
    windows[ordinal].firstKey = window.firstKey
    windows[ordinal].count = UInt64(window.vector.count)
    windows[ordinal].live = window.live
    windows[ordinal].vector = window.vector
    windows[ordinal].lastKey = window.firstKey + Int64(window.vector.count) - 1
  }

  /// A row to fill: the spare one, unless the table has gained columns. Within a write the catalog does not change.
  func adoption(in write: RecordedTransaction) throws(StoreError) -> Adoption {
    if let spare = spareAdoption, spareWrite == store.writer.writeNumber {
      spare.reset()
      return spare
    }
    guard let entry = write.transaction.catalog[table] else { throw .unknownType(schema.name) }
    spareWrite = store.writer.writeNumber
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
