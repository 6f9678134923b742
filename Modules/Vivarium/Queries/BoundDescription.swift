import Notifications
import QueryModel
import StorageInterface
import StoreValues

/// A condition that depends on a property of an object.
struct BoundCondition: Sendable {
  let place: ResultBinding.Place
  /// The condition with a value of the property; nil: everything passes.
  let node: @Sendable (Value) -> PredicateNode?
}

/// Results and what is bound of them, as a plain value: what is asked in one version.
struct BoundDescription: Sendable {
  /// What tells apart questions whose conditions are code.
  final class Identity: Sendable, Hashable {
    static func == (a: Identity, b: Identity) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  let base: ResultDescription
  let conditions: [BoundCondition]
  let identity: Identity

  private var binding: ResultBinding { ResultBinding(conditions.map(\.place)) }

  /// What is asked in a version.
  func description(in reading: any StorageReading) throws(StorageError) -> ResultDescription {
    base.narrowed(by: BoundDescription.condition(conditions, try binding.values(in: reading)))
  }

  /// What has to hold with some values. Nothing passes where an object is gone.
  static func condition(_ conditions: [BoundCondition], _ values: [Value?]) -> PredicateNode {
    var whole = PredicateNode.constant(true)
    for (condition, value) in zip(conditions, values) {
      guard let value else { return .constant(false) }
      if let node = condition.node(value) { whole = .both(whole, node) }
    }
    return whole
  }

  /// How the notifier makes it, keeps it, and makes it anew when what it is bound to changes.
  var recipe: ResultRecipe {
    ResultRecipe(
      identity: identity, keys: { reading throws(StorageError) in try description(in: reading).keys(in: reading) },
      question: { reading throws(StorageError) in try description(in: reading).recipe.question(reading) }, binding: binding)
  }
}

extension ResultDescription {
  /// The same with one condition more; what `ResultsState.narrowed(by:)` describes.
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
