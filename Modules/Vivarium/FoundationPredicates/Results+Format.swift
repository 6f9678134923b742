import QueryEngine
import QueryModel
import StoreValues

extension Results {
  /// The objects that also pass a condition written in the grammar of NSPredicate (Docs/Predicates.md), with `SORT`,
  /// `DISTINCT`, `LIMIT` and `OFFSET` behind it where wanted. Reads nothing.
  ///
  /// ```swift
  /// let found = people.filter("age >= %@ AND ANY dogs.name BEGINSWITH[c] 'r' SORT(name ASC)", 18)
  /// ```
  ///
  /// A mistake in the text makes the result empty and is in `error`. Reading such a result is a mistake of the program: a debug build
  /// stops there, a release build logs it (`MisusePolicy`). For a text that is not written by the programmer take
  /// `filter(format:)`, which throws.
  public func filter(_ format: String, _ arguments: any PredicateArgument...) -> Results { filtered(format, arguments) }

  func filtered(_ format: String, _ arguments: [any PredicateArgument]) -> Results {
    do throws(QueryError) { return try asking(format, arguments) } catch {
      return Results(
        ResultsState(state.store, state.context, state.query, state.source, fault: state.fault ?? StoreError(error)))
    }
  }

  /// The same for a text that is not written by the programmer. Throws `.invalidQuery` for whatever is wrong with it:
  /// the grammar, unknown names, types that do not go together. The cause is a `QueryError` with the position.
  public func filter(format: String, arguments: [any PredicateArgument] = []) throws(StoreError) -> Results {
    let results: Results
    do throws(QueryError) { results = try asking(format, arguments) } catch { throw StoreError(error) }
    if let error = results.error { throw error }
    return results
  }

  /// Of the objects that agree in all of the properties, the first in the order so far.
  public func distinct(by paths: PartialKeyPath<Element>...) -> Results {
    var names: [PropertyPath] = []
    for path in paths {
      guard let name = Element.propertyName(of: path) else {
        return Results(
          ResultsState(state.store, state.context, state.query, state.source, fault: .notAProperty(path, Element._$name)))
      }
      names.append(PropertyPath([name]))
    }
    return adding([.distinct(names)])
  }

  /// The same by paths of names: `distinct(byKeyPaths: ["home.city"])`. Objects behind a null link are dropped.
  public func distinct(byKeyPaths paths: [String]) -> Results { adding([.distinct(paths.map { PropertyPath($0) })]) }

  /// All but the first so many.
  public func offset(by count: Int) -> Results { adding([.offset(count)]) }

  /// The condition and the clauses of these results as a text that `filter` reads as the same.
  public var format: String { state.query.description }

  private func asking(_ format: String, _ arguments: [any PredicateArgument]) throws(QueryError) -> Results {
    let query = try Query(type: Element._$name, parsing: format, arguments: arguments.map(\.queryArgument))
    let filtered = refined { $0.condition = .both($0.condition, query.condition) }
    let sort: [QueryClause] = query.sort.isEmpty ? [] : [.sort(query.sort)]
    return filtered.adding(sort + (query.limit.map { [.limit($0)] } ?? []) + query.clauses)
  }

  /// Clauses at the end of those there are.
  private func adding(_ clauses: [QueryClause]) -> Results {
    if clauses.isEmpty { return self }
    var query = state.query
    for clause in clauses { query.append(clause) }
    return Results(ResultsState(state.store, state.context, query, state.source, fault: state.fault))
  }
}
