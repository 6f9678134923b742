import Notifications
import QueryModel
import StorageInterface
import StoreValues

/// A condition that depends on a property of an object.
struct BoundCondition: Sendable {
  let place: ResultBinding.Place
  /// Builds the condition from the property's value; nil: every object passes.
  let node: @Sendable (Value) -> PredicateNode?
}

/// Results and the properties they are bound to, as a plain value: a query in one version.
struct BoundDescription: Sendable {
  /// Distinguishes queries whose conditions are closures, which cannot be compared.
  final class Identity: Sendable, Hashable {
    static func == (a: Identity, b: Identity) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  let base: ResultDescription
  let conditions: [BoundCondition]
  let identity: Identity

  private var binding: ResultBinding { ResultBinding(conditions.map(\.place)) }

  /// The query with the values of one version.
  func description(in reading: any StorageReading) throws(StorageError) -> ResultDescription {
    base.narrowed(by: BoundDescription.condition(conditions, try binding.values(in: reading)))
  }

  /// The condition for the given values. Never holds if a bound object is deleted.
  static func condition(_ conditions: [BoundCondition], _ values: [Value?]) -> PredicateNode {
    var whole = PredicateNode.constant(true)
    for (condition, value) in zip(conditions, values) {
      guard let value else { return .constant(false) }
      if let node = condition.node(value) { whole = .both(whole, node) }
    }
    return whole
  }

  /// How the notifier creates and maintains these results, and recreates them when a bound property changes.
  var recipe: ResultRecipe {
    ResultRecipe(
      identity: identity, keys: { reading throws(StorageError) in try description(in: reading).keys(in: reading) },
      question: { reading throws(StorageError) in try description(in: reading).recipe.question(reading) }, binding: binding)
  }
}

extension ResultDescription {
  /// The description with one more condition, as `ResultsState.narrowed(by:)` builds it.
  fileprivate func narrowed(by node: PredicateNode) -> ResultDescription {
    if query.limit == nil, query.clauses.isEmpty {
      var query = query
      query.condition = .both(query.condition, node)
      return ResultDescription(query: query, source: source)
    }
    var later = Query(type: query.type)
    later.condition = .both(later.condition, node)
    return ResultDescription(query: later, source: .results(self))
  }
}
