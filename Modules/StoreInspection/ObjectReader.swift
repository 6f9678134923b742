import StorageInterface
import StoreValues

/// Reads the objects of one table as fields, using only the catalog.
///
/// Reads one object at a time: memory is that of a batch and of the largest object.
struct ObjectReader {
  private let read: any ReadTransaction
  let table: TableEntry
  /// The columns whose fields are read, in this order.
  let columns: [ColumnEntry]
  /// The target table of each column that links to objects.
  private let targets: [TableEntry?]
  /// The maximum number of list elements to read; nil: all.
  private let elementLimit: Int?

  init(_ read: any ReadTransaction, _ table: TableEntry, withInverses: Bool, elementLimit: Int? = nil) {
    self.read = read
    self.table = table
    self.elementLimit = elementLimit
    columns = table.currentColumns.filter { withInverses || $0.schema.isStored }
    targets = columns.map { column in
      if case .linkingObjects(let origin, _) = column.schema.kind { return read.catalog[origin] }
      return column.schema.target.flatMap { read.catalog[$0] }
    }
  }

  /// The fields of one object; nil if it does not exist.
  func fields(of key: ObjectKey) throws(InspectionError) -> [ShownField]? {
    do throws(StorageError) {
      guard try read.contains(table.id, key) else { return nil }
      var fields: [ShownField] = []
      for position in columns.indices {
        if columns[position].schema.isScalar {
          fields.append(try field(position, read.value(table.column(columns[position].id), key)))
        } else {
          fields.append(try collection(position, of: key))
        }
      }
      return fields
    } catch { throw InspectionError(error) }
  }

  /// Calls `body` for every object in key order, at most `limit`.
  func forEach(
    limit: Int?, _ body: (ObjectKey, [ShownField]) throws(InspectionError) -> Void
  ) throws(InspectionError) {
    if let limit, limit <= 0 { return }
    let scalars = columns.filter(\.schema.isScalar)
    var left = limit ?? Int.max
    var failure: InspectionError?
    do throws(StorageError) {
      try read.scan(table.id, scalars.map(\.id), from: ObjectKey(1), hints: []) { batch in
        do throws(InspectionError) {
          for row in 0..<batch.count where left > 0 && batch.isLive(at: row) {
            try body(batch.key(at: row), try fields(of: batch, row: row))
            left -= 1
          }
        } catch { failure = error }
        return failure == nil && left > 0 ? .proceed : .stop
      }
    } catch { throw InspectionError(error) }
    if let failure { throw failure }
  }

  private func fields(of batch: borrowing ColumnBatch, row: Int) throws(InspectionError) -> [ShownField] {
    var fields: [ShownField] = []
    fields.reserveCapacity(columns.count)
    var scalar = 0
    do throws(StorageError) {
      for position in columns.indices {
        if case .scalar(let type) = columns[position].schema.kind {
          fields.append(try field(position, batch.columns[scalar].value(at: row, as: type)))
          scalar += 1
        } else {
          fields.append(try collection(position, of: batch.key(at: row)))
        }
      }
    } catch { throw InspectionError(error) }
    return fields
  }

  private func field(_ position: Int, _ value: Value) throws(StorageError) -> ShownField {
    switch value {
    case .link(let key): return try reference(to: key, in: targets[position])
    case .object(let link): return try reference(to: link.key, in: read.catalog[link.table])
    case .list(let elements):
      var fields: [ShownField] = []
      for element in elements { fields.append(try field(position, element)) }
      return .list(fields, count: fields.count)
    case .map(let map):
      var entries: [ShownField.Entry] = []
      for entry in map.entries { entries.append(ShownField.Entry(key: entry.key, value: try field(position, entry.value))) }
      let shown = ShownField.map(entries, count: entries.count)
      return shown.isAmbiguous ? .map([ShownField.Entry(key: GraphText.map, value: shown)], count: 1) : shown
    default: return .value(value)
    }
  }

  /// A reference to an object: its primary key, or its object key if it has none.
  private func reference(to key: ObjectKey, in table: TableEntry?) throws(StorageError) -> ShownField {
    guard let table, let primaryKey = table.primaryKey else { return .object(key, of: table?.name, primaryKey: .null) }
    do throws(StorageError) {
      return .object(key, of: table.name, primaryKey: try read.value(table.column(primaryKey.id), key))
    } catch {
      if error.code == .objectDeleted { return .object(key, of: table.name, primaryKey: .null) }
      throw error
    }
  }

  private func collection(_ position: Int, of key: ObjectKey) throws(StorageError) -> ShownField {
    let column = columns[position]
    if case .linkingObjects(_, let property) = column.schema.kind {
      return try sources(of: key, through: property, of: targets[position])
    }
    let count = try read.elementCount(table.column(column.id), key)
    if column.schema.isMap {
      var entries: [ShownField.Entry] = []
      for entry in try read.entries(table.column(column.id), key, 0..<min(count, elementLimit ?? count)) {
        entries.append(ShownField.Entry(key: entry.key, value: try field(position, entry.value)))
      }
      return .map(entries, count: count)
    }
    var elements: [ShownField] = []
    for value in try read.values(table.column(column.id), key, 0..<min(count, elementLimit ?? count)) {
      elements.append(try field(position, value))
    }
    return .list(elements, count: count)
  }

  private func sources(
    of key: ObjectKey, through property: String, of origin: TableEntry?
  ) throws(StorageError) -> ShownField {
    guard let origin, let column = origin[property] else { return .list([], count: 0) }
    var keys: [Int64] = []
    var count = 0
    try read.sources(of: key, through: origin.column(column.id)) { block in
      count += block.count
      keys += block.prefix((elementLimit ?? Int.max) - keys.count)
      return .proceed
    }
    var elements: [ShownField] = []
    for key in keys { elements.append(try reference(to: ObjectKey(key), in: origin)) }
    return .list(elements, count: count)
  }
}
