import QueryModel
import StorageInterface
import StoreValues

/// A query in the form a view keeps it: its reads and its order are derived here from the query and the catalog; closures of
/// the bound query decide whether a row matches.
///
/// Nil for queries that cannot be kept row by row and are compared instead: with a limit, a quantifier or a subquery, or with a
/// path that the catalog does not have.
package struct KeptQuery: ViewQuestion {
  package let table: TableID
  package let reads: [ReadPath]
  package let ordering: ViewOrdering
  /// Empty if `order` is used.
  private let columns: [SortColumn]
  private let order: (@Sendable (ObjectKey, any StorageReading) throws(StorageError) -> [UInt8])?
  private let condition: @Sendable (ObjectKey, any StorageReading) throws(StorageError) -> Bool
  private let conditionOfMany: (@Sendable ([Int64], any StorageReading) throws(StorageError) -> [Bool])?

  /// - Parameter all: the same for many objects in one call, if that is cheaper.
  /// - Parameter order: bytes that sort as the query does, for an order that is not by columns.
  package init?(
    _ query: Query, in catalog: Catalog,
    matches condition: @escaping @Sendable (ObjectKey, any StorageReading) throws(StorageError) -> Bool,
    all: (@Sendable ([Int64], any StorageReading) throws(StorageError) -> [Bool])? = nil,
    order: (@Sendable (ObjectKey, any StorageReading) throws(StorageError) -> [UInt8])? = nil
  ) {
    guard query.limit == nil, query.clauses.isEmpty, let entry = catalog[query.type] else { return nil }
    let reads = QueryReads(query, entry, catalog)
    guard reads.obstacles.isEmpty else { return nil }
    let columns = reads.columns
    let hasColumns = columns.count == query.sort.count
    guard hasColumns || order != nil else { return nil }
    table = entry.id
    self.reads = reads.paths
    self.columns = hasColumns ? columns : []
    self.order = hasColumns ? nil : order
    self.condition = condition
    conditionOfMany = all
    ordering = query.sort.isEmpty ? .byObjectKey : KeptQuery.ordering(self.columns)
  }

  private static func ordering(_ columns: [SortColumn]) -> ViewOrdering {
    let counts = columns.compactMap(\.numberCount)
    if counts.isEmpty || counts.count < columns.count { return .byFullKey }
    return switch counts.reduce(0, +) {
    case 1: .byPrefix
    case 2: .byTwoPrefixes
    default: .byFullKey
    }
  }

  package func matches(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> Bool {
    try condition(key, reading)
  }

  package func sortKey(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> [UInt8] {
    if let order { return try order(key, reading) }
    var bytes: [UInt8] = []
    for column in columns { try column.append(key, in: reading, to: &bytes) }
    return bytes
  }
}

// MARK: - Many rows

extension KeptQuery {
  package func matches(_ keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [Bool] {
    if let conditionOfMany { return try conditionOfMany(keys, reading) }
    var result: [Bool] = []
    for key in keys { result.append(try condition(ObjectKey(key), reading)) }
    return result
  }

  package func places(of keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [OrderedRow] {
    var rows: [OrderedRow] = []
    rows.reserveCapacity(keys.count)
    switch ordering {
    case .byObjectKey: for key in keys { rows.append(OrderedRow(prefix: 0, key: key)) }
    case .byPrefix:
      let prefixes = try columns[0].numbers(keys, in: reading)
      for (key, prefix) in zip(keys, prefixes) { rows.append(OrderedRow(prefix: prefix, key: key)) }
    case .byTwoPrefixes:
      let first = try columns[0].numbers(keys, in: reading)
      // One column of two numbers, or two of one.
      let second = columns.count == 1 ? first : try columns[1].numbers(keys, in: reading)
      for (i, key) in keys.enumerated() {
        let (prefix, second) = columns.count == 1 ? (first[2 * i], first[2 * i + 1]) : (first[i], second[i])
        rows.append(OrderedRow(ViewEntry(prefix: prefix, second: second, key: key)))
      }
    case .byFullKey:
      for key in keys { rows.append(OrderedRow(sortKey: try sortKey(ObjectKey(key), in: reading), key: key)) }
    }
    return rows
  }
}
