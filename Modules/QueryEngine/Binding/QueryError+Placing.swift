import QueryModel

extension QueryError {
  /// The error with its position in the text: that of the path or object it names, or else the beginning of the comparison. An
  /// error that has a position keeps it.
  func placed(in comparison: Comparison) -> QueryError {
    guard position == nil else { return self }
    var placed = self
    placed.position = (place(in: comparison.left) ?? place(in: comparison.right) ?? comparison.place).byte
    return placed
  }

  /// The error with the position of a path.
  func placed(at path: PropertyPath) -> QueryError {
    guard position == nil else { return self }
    var placed = self
    placed.position = path.place.byte
    return placed
  }

  /// The position of the named path or object in an operand.
  private func place(in node: ExpressionNode) -> TextPlace? {
    switch node {
    case .constant, .constants, .mixed, .variable: nil
    case .path(let written): written.description == path ? written.place : nil
    case .object(let object): object.description == path ? object.place : nil
    case .list(let nodes): nodes.lazy.compactMap { place(in: $0) }.first
    case .folded(let inner, _), .quantified(_, let inner): place(in: inner)
    case .subquery(let subquery): subquery.collection.description == path ? subquery.collection.place : nil
    case .arithmetic(_, let a, let b): place(in: a) ?? place(in: b)
    }
  }
}

extension Binder {
  /// Binds what a path refers to; errors get the path's position.
  mutating func placing<R>(_ path: PropertyPath, _ body: (inout Binder) throws(QueryError) -> R) throws(QueryError) -> R {
    do throws(QueryError) { return try body(&self) } catch { throw error.placed(at: path) }
  }
}
