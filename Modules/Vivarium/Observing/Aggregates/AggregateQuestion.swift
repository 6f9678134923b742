import ChangeTracker
import Notifications
import QueryModel
import StorageInterface
import StoreValues

/// An aggregate of results as the notifier keeps it: the rows and the function over them.
struct AggregateQuestion {
  /// Equal for the same aggregate of the same query.
  private struct Identity: Hashable, Sendable {
    let rows: ResultDescription
    let total: TotalQuestion
  }

  let recipe: ResultRecipe
  let filter: ResultFilter
  /// Converts the state that the notifier keeps to the aggregate's value.
  let read: (ResultTotal) throws(StoreError) -> Value

  /// `.typeMismatch` if the function does not apply to the property's type, `.unknownProperty` if the path is not a scalar property.
  init<T: Model, V>(_ aggregate: LiveAggregate<T, V>, of state: ResultsState) throws(StoreError) {
    if let error = state.error { throw error }
    let catalog = state.store.reading.catalog
    guard let entry = catalog[T._$name] else { throw .unknownType(T._$name) }
    var rows = state.description.unordered
    let total: TotalQuestion
    var properties = PropertySet()
    var name = ""
    if let property = aggregate.property {
      let found = try property.get()
      guard let column = entry[found], case .scalar(let type) = column.schema.kind else { throw .unknownKeyPath(found, of: T._$name) }
      name = found
      try AggregateQuestion.check(type, aggregate.function, found, of: T._$name)
      properties.insert(column.id)
      let id = entry.column(column.id)
      switch aggregate.function {
      case .least, .greatest:
        if let ordered = rows.ordered(by: name, isReal: type.integerRange == nil, ascending: aggregate.function == .least, catalog) {
          rows = ordered
          total = .first(id)
        } else {
          total = aggregate.function == .least ? .least(id, type) : .greatest(id, type)
        }
      default: total = .sum(id, type)
      }
    } else {
      total = .count
    }
    var recipe = rows.recipe
    recipe.identity = Identity(rows: rows, total: total)
    recipe.total = total
    self.recipe = recipe
    filter = ResultFilter(properties: properties, paths: [])
    let (isMean, isReal) = (aggregate.function == .average, !name.isEmpty && entry[name]?.schema.valueType?.integerRange == nil)
    read = { total throws(StoreError) in try AggregateQuestion.value(total, isMean: isMean, isReal: isReal, of: "\(T._$name).\(name)") }
  }

  private static func check<T: Model, V>(
    _ type: ValueType, _ function: LiveAggregate<T, V>.Function, _ name: String, of owner: String
  ) throws(StoreError) {
    let isNumber = type.integerRange != nil || type == .float || type == .double || type == .decimal
    let isRanked = function == .least || function == .greatest
    if isNumber || isRanked && type == .date { return }
    throw StoreError(
      .typeMismatch, "'\(owner).\(name)' is \(type.rawValue), which cannot be \(isRanked ? "ranked" : "added up").",
      remedy: "Use a number\(isRanked ? " or a date" : "").", details: ["type": owner, "property": name])
  }

  private static func value(
    _ total: ResultTotal, isMean: Bool, isReal: Bool, of property: String
  ) throws(StoreError) -> Value {
    switch total {
    case .count(let count): return .int(Int64(count))
    case .value(let value): return value
    case .decimals(let sum, let values):
      guard isMean, case .decimal(let number) = sum else { return sum }
      return values == 0 ? .null : .decimal(number / Decimal128(values))
    case .sum(let integers, let reals, let values):
      if isMean { return values == 0 ? .null : .double((isReal ? reals.value : Double(integers)) / Double(values)) }
      if isReal { return .double(reals.value) }
      guard let sum = Int64(exactly: integers) else {
        throw StoreError(
          .overflow, "The sum of '\(property)' is outside the range of Int64.",
          remedy: "Sum fewer objects, or a Double property.")
      }
      return .int(sum)
    }
  }
}

extension ResultDescription {
  /// The same rows in the cheapest order, if the result does not depend on it.
  fileprivate var unordered: ResultDescription {
    guard query.limit == nil, query.clauses.isEmpty else { return self }
    var query = query
    query.sort = []
    return ResultDescription(query: query, source: source)
  }

  /// The rows that have a value of the property, sorted by it; nil if such a result cannot be kept row by row.
  fileprivate func ordered(by name: String, isReal: Bool, ascending: Bool, _ catalog: Catalog) -> ResultDescription? {
    guard query.limit == nil, query.clauses.isEmpty else { return nil }
    let path = ExpressionNode.path(PropertyPath([name]))
    var query = query
    query.condition = .both(query.condition, .comparison(Comparison(path, .notEqual, .constant(.null))))
    // NaN equals nothing, itself included.
    if isReal { query.condition = .both(query.condition, .comparison(Comparison(path, .equal, path))) }
    query.sort = [SortKey(PropertyPath([name]), ascending: ascending)]
    let ordered = ResultDescription(query: query, source: source)
    return ordered.upkeep(in: catalog) == .rowByRow ? ordered : nil
  }
}

extension Store {
  /// Observes an aggregate of results. `notify` receives each value that may be new, the value already known, and how the new one
  /// came about.
  func observe(
    _ question: Result<AggregateQuestion, StoreError>, _ request: ObservationRequest,
    _ notify: @escaping (Result<Value, StoreError>, _ known: Value?, ChangeDetails?) -> Void
  ) -> NotificationToken {
    let flag = StopFlag()
    let place = deliveryPlace()
    let observation: ResultObservation?
    var fault: StoreError?
    var read: (ResultTotal) throws(StoreError) -> Value = { _ in .null }
    switch outdated.map({ Result.failure($0) }) ?? question {
    case .success(let question):
      observation = shared.results.observe(question.recipe, question.filter, at: place)
      read = question.read
    case .failure(let error):
      (observation, fault) = (nil, error)
      place.wake()
    }
    let observer = ResultObserver(observation, flag, nil, fault: fault) { [read] content, store in
      switch content {
      case .total(let change):
        let known = change.was.flatMap { total in try? read(total) }
        notify(Result { () throws(StoreError) in try read(change.total) }, known, ChangeDetails(change, own: store.origin))
      case .error(let error): notify(.failure(error), nil, nil)
      case .initial, .update: break
      }
    }
    observer.rest = ObserverRest(request.options.throttle)
    add(observer)
    return token(of: observer, request.fileID, request.line)
  }
}
