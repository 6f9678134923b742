import QueryModel
import StoreValues

extension Results {
  /// The position of the first object here that passes a condition; nil if none does, or the condition is invalid. Costs as much as
  /// `where(_:)` with its `first`, and `index(of:)`.
  ///
  /// ```swift
  /// if let row = messages.index(matching: { $0.isRead == false }) { table.scroll(to: row) }
  /// ```
  public func index(
    matching condition: (Field<Element>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Int? {
    self.where(condition, fileID: fileID, line: line).first.flatMap { firstIndex(of: $0) }
  }

  /// The position of the first object that passes a condition in the grammar of NSPredicate; see `filter`.
  public func index(
    matching format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Int? {
    filtered(format, arguments, at: SourcePlace(fileID: fileID, line: line)).first.flatMap { firstIndex(of: $0) }
  }

  /// The objects with a value of the named property. For code that knows a model by a protocol, whose key paths are not the
  /// model's.
  package func matching(_ name: String, _ value: Value) -> Results {
    let node = PredicateNode.comparison(Comparison(.path(PropertyPath([name])), .equal, .constant(value)))
    return self.where { _ in Condition(node) }
  }
}
