import QueryModel
import Values

extension Results {
  /// The objects whose property of a name has a value: for code that knows a model by a protocol, whose key paths are none
  /// of the model's.
  package func matching(_ name: String, _ value: Value) -> Results {
    let node = PredicateNode.comparison(Comparison(.path(PropertyPath([name])), .equal, .constant(value)))
    return self.where { _ in Condition(node) }
  }
}
