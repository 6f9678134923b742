import QueryModel
import StoreValues

extension Results {
  /// The position of the first object here that passes a condition; nil where none does, or the condition cannot be asked.
  /// Costs what `where(_:)`, its `first` and `index(of:)` do.
  ///
  /// ```swift
  /// if let row = messages.index(matching: { $0.isRead == false }) { table.scroll(to: row) }
  /// ```
  public func index(
    matching condition: (Field<Element>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Int? {
    self.where(condition, fileID: fileID, line: line).first.flatMap { firstIndex(of: $0) }
  }

  /// The same in the grammar of NSPredicate; see `filter`.
  public func index(
    matching format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Int? {
    filtered(format, arguments, at: SourcePlace(fileID: fileID, line: line)).first.flatMap { firstIndex(of: $0) }
  }

  /// The objects whose property of a name has a value: for code that knows a model by a protocol, whose key paths are none
  /// of the model's.
  package func matching(_ name: String, _ value: Value) -> Results {
    let node = PredicateNode.comparison(Comparison(.path(PropertyPath([name])), .equal, .constant(value)))
    return self.where { _ in Condition(node) }
  }
}
