import QueryEngine
import QueryModel
import StoreValues

extension Results {
  /// The objects that also pass a condition in the grammar of NSPredicate (Docs/Predicates.md), optionally followed by `SORT`,
  /// `DISTINCT`, `LIMIT` and `OFFSET`. Reads nothing.
  ///
  /// ```swift
  /// let found = people.filter("age >= %@ AND ANY dogs.name BEGINSWITH[c] 'r' SORT(name ASC)", 18)
  /// ```
  ///
  /// An invalid text makes the result empty and sets its `error`. Reading such a result is misuse: a debug build stops there, a
  /// release build logs it (`MisusePolicy`). For a text from elsewhere than the program use `filter(format:)`, which throws.
  public func filter(
    _ format: String, _ arguments: any PredicateArgument..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    filtered(format, arguments, at: SourcePlace(fileID: fileID, line: line))
  }

  func filtered(_ format: String, _ arguments: [any PredicateArgument], at place: SourcePlace?) -> Results {
    do throws(QueryError) { return try asking(format, arguments, place) } catch {
      return Results(state.failing(StoreError(error), at: place))
    }
  }

  /// Filters by a text from elsewhere than the program. Throws `.invalidQuery` for any error in it: the grammar, unknown names,
  /// types that do not match. The cause is a `QueryError` with the position.
  public func filter(format: String, arguments: [any PredicateArgument] = []) throws(StoreError) -> Results {
    let results: Results
    do throws(QueryError) { results = try asking(format, arguments, nil) } catch { throw StoreError(error) }
    if let error = results.error { throw error }
    return results
  }

  /// Keeps, of the objects with equal values in all of the properties, only the first in the present order.
  public func distinct(
    by paths: PartialKeyPath<Element>..., fileID: StaticString = #fileID, line: UInt = #line
  ) -> Results {
    let place = SourcePlace(fileID: fileID, line: line)
    var names: [PropertyPath] = []
    for path in paths {
      guard let name = Element.propertyName(of: path) else {
        return Results(state.failing(.notAProperty(path, Element._$name), at: place))
      }
      names.append(PropertyPath([name]))
    }
    return Results(state.adding([.distinct(names)], at: place))
  }

  /// Keeps, of the objects with equal values at named paths, only the first: `distinct(byKeyPaths: ["home.city"])`. Drops objects
  /// that have a null link on a path.
  public func distinct(byKeyPaths paths: [String], fileID: StaticString = #fileID, line: UInt = #line) -> Results {
    Results(state.adding([.distinct(paths.map { PropertyPath($0) })], at: SourcePlace(fileID: fileID, line: line)))
  }

  /// All objects but the first `count`.
  public func offset(by count: Int) -> Results { Results(state.adding([.offset(count)], at: nil)) }

  /// The condition and the clauses of these results as a text that `filter` parses to the same. Of results that were refined after a
  /// limit, an offset or a distinct only what came after it, because no text has a condition there; `query` is nil for them.
  public var format: String { state.query.description }

  private func asking(_ format: String, _ arguments: [any PredicateArgument], _ place: SourcePlace?) throws(QueryError) -> Results {
    let query = try Query(type: Element._$name, parsing: format, arguments: arguments.map(\.queryArgument))
    let filtered = state.refined(at: place) { $0.condition = .both($0.condition, query.condition) }
    let sort: [QueryClause] = query.sort.isEmpty ? [] : [.sort(query.sort)]
    let clauses = sort + (query.limit.map { [.limit($0)] } ?? []) + query.clauses
    return Results(clauses.isEmpty ? filtered : filtered.adding(clauses, at: place))
  }
}
