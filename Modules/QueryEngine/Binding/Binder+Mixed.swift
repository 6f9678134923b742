import QueryModel
import StorageInterface
import StoreValues

// Mixed values that link to objects: the keys in them are of one store, and name other objects in another.

extension Binder {
  /// The comparison with such values as constants. Rejects those of another store.
  func own(_ comparison: Comparison) throws(QueryError) -> Comparison {
    guard comparison.left.hasMixed || comparison.right.hasMixed else { return comparison }
    return Comparison(try own(comparison.left), comparison.comparator, try own(comparison.right))
  }

  private func own(_ node: ExpressionNode) throws(QueryError) -> ExpressionNode {
    switch node {
    case .mixed(let mixed): return .constant(try own(mixed))
    case .list(let nodes) where node.hasMixed:
      var elements: [ExpressionNode] = []
      for node in nodes { elements.append(try own(node)) }
      let values = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
      return values.count == elements.count ? .constants(values) : .list(elements)
    default: return node
    }
  }

  /// The value, or an error if its links are another store's.
  func own(_ mixed: MixedLiteral) throws(QueryError) -> Value {
    guard let own = catalog.identity, mixed.store != own else { return mixed.value }
    throw QueryError(
      .wrongStore, "The mixed value that the query names links to an object of another store.",
      remedy: "Find the object here by its primary key, and make the value of that.", path: mixed.value.literal)
  }
}

extension ExpressionNode {
  /// Whether it is a mixed value that links to objects, or a list with one.
  fileprivate var hasMixed: Bool {
    switch self {
    case .mixed: true
    case .list(let nodes): nodes.contains(where: \.hasMixed)
    default: false
    }
  }
}
