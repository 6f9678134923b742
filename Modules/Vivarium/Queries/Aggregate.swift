import QueryEngine
import QueryModel
import Storage
import Values

/// What can be computed over a property of a result.
enum Aggregate {
  case sum, average, least, greatest

  /// In the engine's way: no object is made.
  func value(
    _ query: BoundQuery, _ property: PropertyPath, _ reading: any StorageReading
  ) throws(QueryError) -> Value {
    switch self {
    case .sum: try query.sum(property, in: reading)
    case .average: try query.average(property, in: reading).map { .double($0) } ?? .null
    case .least: try query.min(property, in: reading)
    case .greatest: try query.max(property, in: reading)
    }
  }

  /// Over values in hand: a list's, or a limited result's. nil when integers leave Int64.
  func value(over values: [Value]) -> Value? {
    let values = values.filter { !$0.isNull && !$0.isNaN }
    switch self {
    case .least: return values.min { $0.order(to: $1) == .before } ?? .null
    case .greatest: return values.max { $0.order(to: $1) == .before } ?? .null
    case .sum, .average:
      var integers: Int64 = 0
      var reals = 0.0
      for value in values {
        switch value {
        case .int(let x):
          let (sum, overflow) = integers.addingReportingOverflow(x)
          if overflow { return nil }
          integers = sum
        case .float(let x): reals += Double(x)
        case .double(let x): reals += x
        default: continue
        }
      }
      if self == .average {
        return values.isEmpty ? .null : .double((Double(integers) + reals) / Double(values.count))
      }
      if case .int? = values.first { return .int(integers) }
      return values.isEmpty ? .int(0) : .double(reals)
    }
  }
}

extension ResultsState {
  func compute(_ aggregate: Aggregate, of ordinal: Int) throws(StoreError) -> Value {
    if let error { throw error }
    let property = context.properties[ordinal]
    if case .all = source {
      store.evaluationCount += 1
      let query = try bound().get()
      do throws(QueryError) {
        return try aggregate.value(query, PropertyPath([property.schema.name]), store.reading)
      } catch {
        throw StoreError(error)
      }
    }
    let keys = keys().array
    let values = try storing { () throws(StorageError) in
      var values: [Value] = []
      for key in keys { values.append(try store.reading.value(property.column, ObjectKey(key))) }
      return values
    }
    guard let value = aggregate.value(over: values) else {
      throw StoreError(.overflow, "The sum of '\(context.schema.name).\(property.schema.name)' is outside the range of Int64.")
    }
    return value
  }
}
