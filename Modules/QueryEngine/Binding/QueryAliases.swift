import QueryModel
import StorageInterface
import StoreValues

/// Alternative names for properties and types in queries: a property's name before it was renamed, or a short name for a long
/// path.
///
/// ```swift
/// var aliases = QueryAliases()
/// aliases.add("purchasers", for: PropertyPath("@links.Person.items"), in: "Item")
/// let query = try Query(type: "Item", parsing: "purchasers.@count > 2").resolving(aliases, in: catalog)
/// ```
public struct QueryAliases: Sendable, Hashable {
  private struct Name: Sendable, Hashable {
    let type: String
    let property: String
  }

  private var paths: [Name: PropertyPath] = [:]
  private var types: [String: String] = [:]
  /// The limit for chains of aliases; a longer chain is a loop.
  private static let substitutionsMax = 50

  /// No aliases.
  public init() {}

  /// Makes `alias` stand for `path`, wherever a path has reached an object of the type.
  public mutating func add(_ alias: String, for path: PropertyPath, in type: String) {
    paths[Name(type: type, property: alias)] = path
  }

  /// Makes `alias` stand for a type after `@links`.
  public mutating func add(typeAlias alias: String, for type: String) { types[alias] = type }

  func path(_ name: String, in type: String) -> PropertyPath? { paths[Name(type: type, property: name)] }
  func type(_ name: String) -> String { types[name] ?? name }

  /// A path without aliases, and the type of the objects it ends at.
  func resolve(
    _ path: PropertyPath, from start: TableEntry, variables: [String: TableEntry], in catalog: Catalog
  ) throws(QueryError) -> (path: PropertyPath, end: TableEntry?) {
    var rest = path.components[...]
    var here: TableEntry? = start
    var result: [String] = []
    var substitutions = 0
    if let first = rest.first, let entry = variables[first] {
      result.append(first)
      rest.removeFirst()
      here = entry
    }
    while let name = rest.popFirst() {
      guard let entry = here, !name.hasPrefix("[") else {
        result.append(name)
        continue
      }
      if name == "@links", let type = rest.first, !type.hasPrefix("@") {
        rest.removeFirst()
        result += [name, self.type(type)]
        here = catalog[named: self.type(type)]
        if let source = here, let property = rest.popFirst() {
          result.append(try single(property, in: source, path))
        }
        continue
      }
      if let other = self.path(name, in: entry.name) {
        substitutions += 1
        guard substitutions <= QueryAliases.substitutionsMax else { throw loop(name, path) }
        rest = other.components[...] + rest
        continue
      }
      result.append(name)
      if name.hasPrefix("@") { continue }
      here = entry[name].flatMap { column in
        if case .linkingObjects(let origin, _) = column.schema.kind { return catalog[origin] }
        return column.schema.target.flatMap { catalog[$0] }
      }
    }
    var resolved = PropertyPath(result)
    resolved.place = path.place
    return (resolved, here)
  }

  /// The property that a name after `@links.Type` stands for, aliases resolved.
  private func single(_ name: String, in entry: TableEntry, _ path: PropertyPath) throws(QueryError) -> String {
    var name = name
    for _ in 0...QueryAliases.substitutionsMax {
      guard let other = self.path(name, in: entry.name), other.components.count == 1 else { return name }
      name = other.components[0]
    }
    throw loop(name, path)
  }

  private func loop(_ name: String, _ path: PropertyPath) -> QueryError {
    QueryError(
      .unknownProperty, "The alias '\(name)' in '\(path)' leads back to itself.", remedy: "Let it stand for a property.",
      path: path.description)
  }
}

extension Query {
  /// The query with all aliases resolved. Throws if the type is unknown or an alias refers to itself.
  public func resolving(_ aliases: QueryAliases, in catalog: Catalog) throws(QueryError) -> Query {
    guard let entry = catalog[named: aliases.type(type)] else {
      throw QueryError(.unknownType, "The store has no type '\(type)'.", remedy: "List the type when opening the store.")
    }
    let resolver = AliasResolver(aliases: aliases, catalog: catalog, entry: entry)
    var query = self
    query.type = entry.name
    query.condition = try resolver.resolve(condition)
    query.sort = try resolver.resolve(sort)
    query.clauses = []
    for clause in clauses { query.clauses.append(try resolver.resolve(clause)) }
    return query
  }
}

private struct AliasResolver {
  let aliases: QueryAliases
  let catalog: Catalog
  let entry: TableEntry
  var variables: [String: TableEntry] = [:]

  func resolve(_ path: PropertyPath) throws(QueryError) -> PropertyPath {
    try aliases.resolve(path, from: entry, variables: variables, in: catalog).path
  }

  func resolve(_ keys: [SortKey]) throws(QueryError) -> [SortKey] {
    var result: [SortKey] = []
    for key in keys { result.append(SortKey(try resolve(key.path), ascending: key.ascending, folding: key.folding)) }
    return result
  }

  func resolve(_ clause: QueryClause) throws(QueryError) -> QueryClause {
    switch clause {
    case .limit, .offset: return clause
    case .sort(let keys): return .sort(try resolve(keys))
    case .distinct(let paths):
      var result: [PropertyPath] = []
      for path in paths { result.append(try resolve(path)) }
      return .distinct(result)
    }
  }

  func resolve(_ node: PredicateNode) throws(QueryError) -> PredicateNode {
    switch node {
    case .constant: return node
    case .not(let inner): return .not(try resolve(inner))
    case .and(let parts): return .and(try resolve(parts))
    case .or(let parts): return .or(try resolve(parts))
    case .comparison(let comparison):
      return .comparison(Comparison(try resolve(comparison.left), comparison.comparator, try resolve(comparison.right)))
    }
  }

  private func resolve(_ parts: [PredicateNode]) throws(QueryError) -> [PredicateNode] {
    var result: [PredicateNode] = []
    for part in parts { result.append(try resolve(part)) }
    return result
  }

  private func resolve(_ node: ExpressionNode) throws(QueryError) -> ExpressionNode {
    switch node {
    case .constant, .constants, .object, .mixed, .variable: return node
    case .path(let path): return .path(try resolve(path))
    case .folded(let inner, let folding): return .folded(try resolve(inner), folding)
    case .quantified(let quantifier, let inner): return .quantified(quantifier, try resolve(inner))
    case .arithmetic(let sign, let a, let b): return .arithmetic(sign, try resolve(a), try resolve(b))
    case .list(let nodes):
      var result: [ExpressionNode] = []
      for node in nodes { result.append(try resolve(node)) }
      return .list(result)
    case .subquery(var subquery):
      let (path, end) = try aliases.resolve(subquery.collection, from: entry, variables: variables, in: catalog)
      subquery.collection = path
      if let end {
        var variables = variables
        variables[subquery.variable] = end
        if variables["SELF"] == nil, end["SELF"] == nil { variables["SELF"] = entry }
        let inner = AliasResolver(aliases: aliases, catalog: catalog, entry: end, variables: variables)
        subquery.condition = try inner.resolve(subquery.condition)
      }
      return .subquery(subquery)
    }
  }
}
