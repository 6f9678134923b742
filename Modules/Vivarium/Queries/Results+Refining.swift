import QueryModel
import StoreValues

extension Results {
  /// The objects that also pass a condition: `where { $0.age >= 18 && !$0.name.contains("x") }`. Reads nothing.
  @inlinable public func `where`(
    _ condition: (Field<Element>) -> Condition, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    Results(state.narrowed(by: condition(Field(.path([]))).body, fileID, line))
  }

  /// In ascending or descending order of a property. Stable, as Swift's own sorts: ties keep the order they had before, that of an earlier
  /// `sorted`, or else that of insertion.
  public func sorted<V: Scalar>(
    by path: KeyPath<Element, V>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, nil, at: SourcePlace(fileID: fileID, line: line))
  }

  /// The same for an optional property: nil comes first ascending.
  public func sorted<V: Scalar>(
    by path: KeyPath<Element, V?>, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, nil, at: SourcePlace(fileID: fileID, line: line))
  }

  /// In the order of texts without the differences that do not count: `sorted(by: \.name, folding: .caseInsensitive)` has `ann`
  /// beside `Ann`. Reads each object that is put in order.
  public func sorted(
    by path: KeyPath<Element, String>, ascending: Bool = true, folding: Folding, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, folding, at: SourcePlace(fileID: fileID, line: line))
  }

  /// The same for an optional property.
  public func sorted(
    by path: KeyPath<Element, String?>, ascending: Bool = true, folding: Folding, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(byPath: path, ascending, folding, at: SourcePlace(fileID: fileID, line: line))
  }

  /// In the order of several keys, each deciding the ties of those before it; the ties of the last keep the order they had.
  public func sorted(by keys: [SortKey], fileID: StaticString = #fileID, line: UInt = #line) -> Results {
    sorted(by: keys, at: SourcePlace(fileID: fileID, line: line))
  }

  /// In the order of what a closure names, over links and of numbers of collections too: `sorted { $0.boss.name }`,
  /// `sorted(ascending: false) { $0.dogs.count }`. Ascending, nil comes first, and what lies behind a nil link last.
  public func sorted<V>(
    ascending: Bool = true, folding: Folding? = nil, _ value: (Field<Element>) -> Field<V>, fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Results {
    let (body, place) = (value(Field(.path([]))).body, SourcePlace(fileID: fileID, line: line))
    guard case .path(let path) = body, !path.isEmpty else { return Results(state.failing(.notAnOrder(body), at: place)) }
    return sorted(by: [SortKey(PropertyPath(path), ascending: ascending, folding: folding)], at: place)
  }

  /// In the order of a path of names: `sorted(byKeyPath: "best.name")`. A wrong name is in `error`.
  public func sorted(
    byKeyPath path: String, ascending: Bool = true, fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    sorted(by: [SortKey(PropertyPath(path), ascending: ascending)], at: SourcePlace(fileID: fileID, line: line))
  }

  /// At most the first so many, kept right like any result.
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
  /// An order by a property: `SortKey(\Person.age, ascending: false)`. A path that is no persisted property is
  /// reported by the results that use it, and a folding of what is no text.
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
