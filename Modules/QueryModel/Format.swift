import StoreValues

/// Conditions and queries as text in the grammar of the parser: parsing the text of anything the parser can produce gives the
/// same value.
extension PredicateNode: CustomStringConvertible {
  public var description: String {
    switch self {
    case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison): comparison.description
    case .and(let parts): PredicateNode.joined(parts, " AND ", empty: "TRUEPREDICATE")
    case .or(let parts): PredicateNode.joined(parts, " OR ", empty: "FALSEPREDICATE")
    case .not(let inner): "NOT " + inner.operand
    }
  }

  private static func joined(_ parts: [PredicateNode], _ word: String, empty: String) -> String {
    parts.isEmpty ? empty : parts.map(\.operand).joined(separator: word)
  }

  /// The text, in brackets if it would be parsed differently otherwise.
  private var operand: String {
    switch self {
    case .and(let parts), .or(let parts): parts.count > 1 ? "(\(description))" : description
    default: description
    }
  }
}

extension Comparison: CustomStringConvertible {
  public var description: String {
    var (left, right) = (left, right)
    var options = ""
    if case .folded(let inner, let folding) = left { (left, options) = (inner, folding.letters) }
    if case .folded(let inner, let folding) = right { (right, options) = (inner, folding.letters) }
    return "\(left) \(comparator.rawValue)\(Folding.written(options)) \(right)"
  }
}

extension Folding {
  fileprivate var letters: String { (ignoresCase ? "c" : "") + (ignoresDiacritics ? "d" : "") }

  fileprivate static func written(_ letters: String) -> String { letters.isEmpty ? "" : "[\(letters)]" }
}

extension ExpressionNode: CustomStringConvertible {
  public var description: String {
    switch self {
    case .constant(let value): value.literal
    case .constants(let values): "{" + values.map(\.literal).joined(separator: ", ") + "}"
    case .list(let elements): "{" + elements.map(\.description).joined(separator: ", ") + "}"
    case .object(let object): object.description
    case .mixed(let mixed): mixed.value.literal
    case .variable(let name): "$" + PropertyPath.escaped(name)
    case .path(let path): path.description
    case .folded(let inner, _): inner.description
    case .quantified(let quantifier, let inner): "\(quantifier.rawValue) \(inner)"
    case .subquery(let subquery): subquery.description
    case .arithmetic(let sign, let left, let right): "\(left.operand) \(sign.rawValue) \(right.operand)"
    }
  }

  private var operand: String {
    if case .arithmetic = self { "(\(description))" } else { description }
  }
}

extension ObjectLiteral: CustomStringConvertible {
  public var description: String {
    switch identity {
    case .key(let key): "obj(\(Literal.quoted(type)), \(Value.link(key).literal))"
    case .primaryKey(let value): "obj(\(Literal.quoted(type)), \(value.literal))"
    }
  }
}

extension Subquery: CustomStringConvertible {
  public var description: String { "SUBQUERY(\(collection), \(variable), \(condition)).@count" }
}

extension Query: CustomStringConvertible {
  /// The condition and the clauses, without the type.
  public var description: String {
    var text = condition.description
    if !sort.isEmpty { text += " \(QueryClause.sort(sort))" }
    if let limit { text += " \(QueryClause.limit(limit))" }
    for clause in clauses { text += " \(clause)" }
    return text
  }
}

extension QueryClause: CustomStringConvertible {
  public var description: String {
    switch self {
    case .sort(let keys): "SORT(" + keys.map(QueryClause.written).joined(separator: ", ") + ")"
    case .distinct(let paths): "DISTINCT(" + paths.map(QueryClause.bracketed).joined(separator: ", ") + ")"
    case .limit(let count): "LIMIT(\(count))"
    case .offset(let count): "OFFSET(\(count))"
    }
  }

  private static func written(_ key: SortKey) -> String {
    bracketed(key.path) + (key.ascending ? " ASC" : " DESC") + Folding.written(key.folding?.letters ?? "")
  }

  /// A path with operators must be in brackets in a clause.
  private static func bracketed(_ path: PropertyPath) -> String {
    path.components.contains { $0.hasPrefix("@") } ? "(\(path))" : path.description
  }
}
