import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

extension Inspector {
  /// Prints the objects that a query finds, in its order.
  ///
  /// Uses 8 bytes of memory per object found: all keys are known before the first object is printed.
  public func find(_ query: Query) throws(InspectionError) {
    try withSnapshot { read throws(InspectionError) in
      let table = try table(query.type, in: read.catalog)
      let keys = try keys(query, read)
      let reader = ObjectReader(read, table, withInverses: false, elementLimit: elementLimit)
      var writer = recordWriter()
      try writer.begin(table.name, reader.columns, count: keys.count)
      for key in keys {
        if let fields = try reader.fields(of: ObjectKey(key)) { try writer.object(ObjectKey(key), fields) }
      }
      try writer.endType()
      try writer.end()
    }
  }

  /// Prints the number of objects that a query finds.
  public func count(_ query: Query) throws(InspectionError) {
    try withSnapshot { read throws(InspectionError) in
      let table = try table(query.type, in: read.catalog)
      try printCounts([(table.name, try bind(query, read) { bound throws(StorageError) in try bound.count(in: read) })], isOne: true)
    }
  }

  private func keys(_ query: Query, _ read: any ReadTransaction) throws(InspectionError) -> [Int64] {
    try bind(query, read) { bound throws(StorageError) in try bound.keys(in: read) }
  }

  private func bind<R>(
    _ query: Query, _ read: any ReadTransaction, _ body: (BoundQuery) throws(StorageError) -> R
  ) throws(InspectionError) -> R {
    let bound: BoundQuery
    do throws(QueryError) { bound = try BoundQuery(query, in: read.catalog) } catch { throw InspectionError(error) }
    do throws(StorageError) { return try body(bound) } catch { throw InspectionError(error) }
  }
}

extension InspectionError {
  /// An invalid query counts as an invalid argument.
  init(_ error: QueryError) {
    if let cause = error.cause {
      self.init(cause)
    } else {
      self.init(.usage, DisplayText.escaped(error.remedy.isEmpty ? error.message : "\(error.message) \(error.remedy)"))
    }
  }
}
