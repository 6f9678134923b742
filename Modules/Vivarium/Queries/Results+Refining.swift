import QueryModel
import StoreValues

extension Results {
  /// The objects that also pass a condition: `where { $0.age >= 18 && !$0.name.contains("x") }`. Reads nothing.
  @inlinable public func `where`(
    _ condition: (Field<Element>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    Results(state.narrowed(by: condition(Field(.path([]))).body, fileID, line))
  }

  /// Sorts by a property. Stable, as Swift's own sort: ties keep their previous order, that of an earlier `sorted` or else of
  /// insertion.
  public func sorted<V: Scalar>(
    by path: KeyPath<Element, V>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, nil, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Sorts by an optional property: nil comes first ascending.
  public func sorted<V: Scalar>(
    by path: KeyPath<Element, V?>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, nil, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Sorts by a string property, ignoring the differences that `folding` names: `sorted(by: \.name, folding: .caseInsensitive)`
  /// puts `ann` beside `Ann`. Reads each object that it sorts.
  public func sorted(
    by path: KeyPath<Element, String>, ascending: Bool = true, folding: Folding, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, folding, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Sorts by an optional string property with a folding.
  public func sorted(
    by path: KeyPath<Element, String?>, ascending: Bool = true, folding: Folding, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, folding, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Sorts by several keys, each deciding the ties of those before it; ties of the last keep their previous order.
  public func sorted(by keys: [SortKey], fileID: StaticString = #fileID, line: UInt = #line) -> Results {
    sorted(by: keys, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Sorts by what a closure names, also over links and by counts of collections: `sorted { $0.boss.name }`,
  /// `sorted(ascending: false) { $0.dogs.count }`. Ascending, nil comes first, and a value behind a nil link last.
  public func sorted<V>(
    ascending: Bool = true, folding: Folding? = nil, _ value: (Field<Element>) -> Field<V>, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Results {
    let (body, place) = (value(Field(.path([]))).body, SourcePlace(fileID: fileID, line: line))
    guard case .path(let path) = body, !path.isEmpty else { return Results(state.failing(.notAnOrder(body), at: place)) }
    return sorted(by: [SortKey(PropertyPath(path), ascending: ascending, folding: folding)], at: place)
  }

  /// Sorts by a path of names: `sorted(byKeyPath: "best.name")`. `error` reports an unknown name.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(by: [SortKey(PropertyPath(path), ascending: ascending)], at: SourcePlace(fileID: fileID, line: line))
  }

  /// The first `count` objects at most, live like any result.
  public func limited(to count: Int) -> Results {
    refined { $0.limit = $0.limit.map { Swift.min($0, count) } ?? count }
  }

  private func sorted(byPath path: AnyKeyPath, _ ascending: Bool, _ folding: Folding?, at place: SourcePlace) -> Results {
    guard let name = Element.propertyName(of: path) else {
      return Results(state.failing(.notAProperty(path, Element._$name), at: place))
    }
    return sorted(by: [SortKey(PropertyPath([name]), ascending: ascending, folding: folding)], at: place)
  }

  private func sorted(by keys: [SortKey], at place: SourcePlace) -> Results {
    Results(state.refined(at: place) { $0.sort = keys + $0.sort })
  }

  func refined(_ change: (inout Query) -> Void) -> Results { Results(state.refined(change)) }
}

extension SortKey {
  /// A sort key for a property: `SortKey(\Person.age, ascending: false)`. The results that use it report a path that is not a
  /// persisted property, and a folding of a property that is not a string.
  public init<T: Model>(_ path: PartialKeyPath<T>, ascending: Bool = true, folding: Folding? = nil) {
    self.init(PropertyPath([T.propertyName(of: path) ?? "\(path)"]), ascending: ascending, folding: folding)
  }
}

extension StoreError {
  fileprivate static func notAnOrder(_ body: FieldBody) -> StoreError {
    StoreError(
      .unknownProperty, "'\(body.expression?.description ?? body.node.description)' is no property that objects can be ordered by.",
      remedy: "Order by a property, by one behind links, or by an aggregate of a collection.")
  }

  static func notAProperty(_ path: AnyKeyPath, _ type: String) -> StoreError {
    StoreError(
      .unknownProperty, "'\(path)' is no persisted property of '\(type)'.",
      remedy: "Use a stored property that is not @Transient; in an order, '{ $0.link.name }' goes over links.",
      details: ["type": type])
  }
}
