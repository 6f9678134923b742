import QueryModel
import StorageInterface
import StoreValues

extension BoundQuery {
  /// The sum of a numeric property over the objects that pass: `.int` for integers, `.decimal` for decimals, `.double` for the
  /// others, 0 over nothing and over nulls. Throws `.overflow` when a sum of integers leaves Int64, whatever the order of adding.
  /// The same on every engine, to the last bit.
  ///
  /// - Parameter given: live objects to add up instead of those that pass, each as often as it occurs.
  public func sum(
    _ property: PropertyPath, of given: [Int64]? = nil, in storage: any StorageReading
  ) throws(QueryError) -> Value {
    if let sum = try decimals(property, of: given, in: storage, .sum) { return sum }
    let total = try total(property, of: given, in: storage, .sum)
    switch total.kind {
    case .integer:
      guard let sum = Int64(exactly: total.integers) else {
        throw QueryError(
          .overflow, "The sum of '\(property)' is outside the range of Int64.", remedy: "Sum fewer objects, or a Double property.",
          path: property.description)
      }
      return .int(sum)
    default: return .double(total.reals.value)
    }
  }

  /// The mean of a numeric property over the objects that pass, or the `given` ones, and are not null: `.decimal` for decimals,
  /// `.double` for the others; null when there is none.
  public func mean(
    _ property: PropertyPath, of given: [Int64]? = nil, in storage: any StorageReading
  ) throws(QueryError) -> Value {
    if let mean = try decimals(property, of: given, in: storage, .average) { return mean }
    return try average(property, of: given, in: storage).map { .double($0) } ?? .null
  }

  /// The mean of integers and reals as a Double; nil if there is no value.
  public func average(
    _ property: PropertyPath, of given: [Int64]? = nil, in storage: any StorageReading
  ) throws(QueryError) -> Double? {
    let total = try total(property, of: given, in: storage, .mean)
    if total.count == 0 { return nil }
    return (total.kind == .integer ? Double(total.integers) : total.reals.value) / Double(total.count)
  }

  /// The least value of a number or date over the objects that pass, or the `given` ones; null if there is none. Ignores null
  /// and NaN.
  public func min(
    _ property: PropertyPath, of given: [Int64]? = nil, in storage: any StorageReading
  ) throws(QueryError) -> Value {
    if let least = try decimals(property, of: given, in: storage, .min) { return least }
    return try total(property, of: given, in: storage, .least).least
  }

  /// The greatest value; see `min`.
  public func max(
    _ property: PropertyPath, of given: [Int64]? = nil, in storage: any StorageReading
  ) throws(QueryError) -> Value {
    if let greatest = try decimals(property, of: given, in: storage, .max) { return greatest }
    return try total(property, of: given, in: storage, .greatest).greatest
  }

  /// An aggregate of a decimal property; nil for other types. Reads the objects one by one, in ascending key order, in which an engine
  /// reads fastest.
  private func decimals(
    _ property: PropertyPath, of given: [Int64]?, in storage: any StorageReading, _ aggregate: CollectionAggregate
  ) throws(QueryError) -> Value? {
    var binder = try Binder(query.type, in: plan.catalog)
    let path = try binder.bind(property)
    guard path.type == .decimal else { return nil }
    do throws(StorageError) {
      let evaluator = Evaluator(storage: storage)
      var values: [Value] = []
      var keys = given ?? []
      if given == nil { keys = try self.keys(in: storage) }
      for key in keys.sorted() { values.append(try evaluator.value(path, ObjectKey(key))) }
      return Arithmetic.aggregate(aggregate, values, .decimal)
    } catch {
      throw QueryError(error)
    }
  }

  private func total(
    _ property: PropertyPath, of given: [Int64]?, in storage: any StorageReading, _ part: ColumnTotal.Part
  ) throws(QueryError) -> Total {
    let onlyNumbers = part == .sum || part == .mean
    var binder = try Binder(query.type, in: plan.catalog)
    let path = try binder.bind(property)
    guard path.type.isNumber && path.type.ordersByBytes || (!onlyNumbers && path.type == .date) else {
      throw QueryError(
        .typeMismatch, "'\(property)' is \(path.type.rawValue), which cannot be \(onlyNumbers ? "added up" : "ranked").",
        remedy: "Use a number\(onlyNumbers ? "" : " or a date").", path: property.description)
    }
    do throws(StorageError) {
      if let given { return try Total(path, given, Evaluator(storage: storage), part) }
      if !clauses.isEmpty { return try Total(path, try keys(in: storage), Evaluator(storage: storage), part) }
      var run = Run(plan, storage, stage)
      return try run.total(path, part)
    } catch {
      throw QueryError(error)
    }
  }
}

extension Total {
  /// Aggregates the given objects. Adds reals in ascending key order.
  fileprivate init(_ path: BoundPath, _ keys: [Int64], _ evaluator: Evaluator, _ part: ColumnTotal.Part) throws(StorageError) {
    self.init(path.type, part)
    for key in keys.sorted() {
      if let word = try evaluator.word(path, ObjectKey(key)) { add(word) }
    }
  }
}

extension Run {
  mutating func total(_ path: BoundPath, _ part: ColumnTotal.Part) throws(StorageError) -> Total {
    if case .constant(true) = plan.condition, path.isOwn, plan.limit == nil,
      let engine = storage.powers.aggregates, let found = try engine.total(of: path.end, part)
    {
      return Total(path.type, found, part)
    }
    var total = Total(path.type, part)
    let evaluator = Evaluator(storage: storage)
    var isScan = false
    if case .scan = try source() { isScan = true }
    guard isScan, path.isOwn, plan.limit == nil else {
      // Reals are added in ascending key order whatever the access.
      for key in try keys(limit: plan.limit).sorted() {
        statistics.rowsRead += 1
        if let word = try evaluator.word(path, ObjectKey(key)) { total.add(word) }
      }
      return total
    }
    var columns = Array(plan.columns.prefix(plan.conditionColumns))
    let slot = columns.firstIndex(of: path.end.property) ?? columns.count
    if slot == columns.count { columns.append(path.end.property) }
    try scan(columns, valuesOf: slot) { batch, mask, scratch in
      total.add(batch.columns[slot], mask, batch.count, scratch)
      return .proceed
    }
    return total
  }
}
