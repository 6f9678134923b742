import QueryModel
import StorageInterface
import StoreValues

/// Binds the names and constants of a query to a catalog. Finds every error a query can have, before anything is read.
struct Binder {
  let catalog: Catalog
  let table: TableEntry
  /// Every column that is read, of any table.
  var columns = Set<ColumnID>(minimumCapacity: 6)
  /// The variable of the enclosing SUBQUERY, if the condition is about one of its elements.
  var variable: String?
  /// The enclosing objects of that element, from the query's own object inwards. Paths may begin with their variables, or with
  /// SELF, which names the first of them.
  var outer: [Scope] = []

  struct Scope {
    let variable: String?
    let table: TableEntry
  }

  /// Deeper nested conditions are rejected, because conditions are walked recursively.
  static let depthLimit = 400

  init(_ type: String, in catalog: Catalog) throws(QueryError) {
    guard let table = catalog[type] else {
      throw QueryError(.unknownType, "The store has no type '\(type)'.", remedy: "List the type when opening the store.")
    }
    self.catalog = catalog
    self.table = table
  }

  mutating func bind(_ node: PredicateNode, depth: Int = 0) throws(QueryError) -> Condition {
    guard depth < Binder.depthLimit else {
      throw QueryError(
        .tooComplex, "The condition is nested more than \(Binder.depthLimit) deep.",
        remedy: "Put the parts into one list of AND or OR.")
    }
    switch node {
    case .constant(let value): return .constant(value)
    case .comparison(let comparison): return try bind(comparison, depth: depth)
    case .not(let inner): return .not(try bind(inner, depth: depth + 1))
    case .and(let parts): return .and(try bind(parts, depth: depth + 1))
    case .or(let parts): return .or(try bind(parts, depth: depth + 1))
    }
  }

  private mutating func bind(_ parts: [PredicateNode], depth: Int) throws(QueryError) -> [Condition] {
    var result: [Condition] = []
    result.reserveCapacity(parts.count)
    for part in parts { result.append(try bind(part, depth: depth)) }
    return result
  }

  /// Resolves a path that ends in a scalar.
  mutating func bind(_ path: PropertyPath) throws(QueryError) -> BoundPath {
    var entry = table
    var links: [ColumnID] = []
    guard let last = try ownComponents(path).last else {
      throw QueryError(.unknownProperty, "The path is empty.", remedy: "Name a property of '\(table.name)'.", path: "")
    }
    let components = try ownComponents(path)
    for name in components.dropLast() {
      let column = try column(name, of: entry, in: path)
      guard case .scalar(.link) = column.schema.kind, let target = column.schema.target.flatMap({ catalog[$0] }) else {
        throw QueryError(
          column.schema.isScalar ? .typeMismatch : .notSupported,
          "'\(name)' in '\(path)' is \(column.schema.kind.label), not a link to one object.",
          remedy: "Only links can be followed by another property.", path: path.description)
      }
      links.append(entry.column(column.id))
      entry = target
    }
    let column = try column(last, of: entry, in: path)
    guard case .scalar(let type) = column.schema.kind else {
      throw QueryError(
        .notSupported, "'\(path)' is \(column.schema.kind.label), which this comparison cannot read.",
        remedy: "Compare a property of its elements with ANY or ALL.", path: path.description)
    }
    let isOptional = column.schema.isOptional || type == .link || !links.isEmpty
    let bound = BoundPath(links: links, end: entry.column(column.id), type: type, isOptional: isOptional)
    columns.formUnion(links)
    columns.insert(bound.end)
    return bound
  }

  /// The components without the name of the object itself: the SUBQUERY's variable, or SELF.
  func ownComponents(_ path: PropertyPath) throws(QueryError) -> ArraySlice<String> {
    guard let first = path.components.first, Binder.mayNameObject(first), table[first] == nil else { return path.components[...] }
    if first == variable || outer.isEmpty && isSelf(first) { return path.components.dropFirst() }
    if first.hasPrefix("$") {
      throw QueryError(
        .unknownProperty, "There is no variable '\(first)'.", remedy: "Name it in the SUBQUERY round it.", path: path.description)
    }
    return path.components[...]
  }

  /// Whether the first name of a path may name an object instead of a property. Rarely true, so checked before the schema is.
  static func mayNameObject(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "$") || name == "SELF" }

  /// Whether the name means the object, and no property has this name.
  func isSelf(_ name: String) -> Bool { name == "SELF" && table["SELF"] == nil && table["self"] == nil }

  private func column(_ name: String, of entry: TableEntry, in path: PropertyPath) throws(QueryError) -> ColumnEntry {
    guard let column = entry[name] else { throw .unknownProperty(name, of: entry, in: path.description) }
    return column
  }
}
