import QueryModel
import StoreValues

/// A recursive-descent parser for conditions with one token of look-ahead: linear, nested up to `depthLimit`.
struct Parser {
  private var lexer: Lexer
  private(set) var token: Token
  /// The end of the previous token.
  private(set) var lastEnd = 0
  let arguments: [QueryArgument]
  var depth = 0
  /// An upper bound of the height of the trees parsed since this was set to 0.
  var height = 0
  /// The variables of the enclosing subqueries.
  var subqueryVariables: [String] = []

  static let depthLimit = 100
  /// Terms of one sum or product; each nests the tree deeper.
  static let termsLimit = 200
  static let clausesLimit = 100
  /// The height of the whole tree, which is walked and freed recursively. Brackets and chained terms add up.
  static let heightLimit = 400

  init(_ text: String, _ arguments: [QueryArgument]) throws(QueryError) {
    lexer = Lexer(text)
    self.arguments = arguments
    token = try lexer.next()
  }

  mutating func advance() throws(QueryError) {
    lastEnd = token.end
    token = try lexer.next()
  }

  func fault(_ wanted: String) -> QueryError {
    let found = token.kind == .end ? "the end" : "'\(lexer.text(token.start..<token.end))'"
    return QueryError(
      .syntax, "Expected \(wanted) and found \(found).", remedy: "See the grammar of conditions.",
      position: token.start)
  }

  func error(_ code: QueryError.Code, _ message: String, _ remedy: String, at position: Int) -> QueryError {
    QueryError(code, message, remedy: remedy, position: position)
  }

  var hasHexPrefix: Bool {
    token.end - token.start > 1 && lexer.bytes[token.start] == 48 && lexer.bytes[token.start + 1] | 32 == UInt8(ascii: "x")
  }

  /// Whether the next byte after the current token, spaces skipped, is `byte`; decides whether a name is a keyword.
  func follows(_ byte: UInt8) -> Bool {
    var at = token.end
    while at < lexer.bytes.count, Lexer.isSpace(lexer.bytes[at]) { at += 1 }
    return at < lexer.bytes.count && lexer.bytes[at] == byte
  }

  mutating func take(_ symbol: String) throws(QueryError) -> Bool {
    guard token.isSymbol(symbol) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ symbol: String) throws(QueryError) {
    guard try take(symbol) else { throw fault("'\(symbol)'") }
  }

  mutating func take(keyword: String) throws(QueryError) -> Bool {
    guard token.keyword == keyword else { return false }
    try advance()
    return true
  }

  func expectEnd() throws(QueryError) {
    guard token.kind == .end else { throw fault("AND, OR or the end") }
  }

  mutating func nested<R>(_ body: (inout Parser) throws(QueryError) -> R) throws(QueryError) -> R {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Parser.depthLimit else {
      throw error(
        .tooComplex, "The condition is nested more than \(Parser.depthLimit) deep.", "Use fewer brackets.", at: token.start)
    }
    let outer = height
    height = 0
    let result = try body(&self)
    height = max(outer, height + 1)
    return result
  }
}

/// The contents of brackets; which of the two shows only at the end.
enum Parsed {
  case predicate(PredicateNode)
  case expression(ExpressionNode)
}

extension Parser {
  mutating func wholePredicate() throws(QueryError) -> PredicateNode { try predicate() }

  mutating func predicate() throws(QueryError) -> PredicateNode {
    let start = token.start
    guard case .predicate(let node) = try disjunction() else {
      if token.kind == .end { throw fault("a comparison") }
      throw error(.syntax, "This is a value, not a condition.", "Compare it with something.", at: start)
    }
    return node
  }

  /// Anything that brackets can hold.
  mutating func anything() throws(QueryError) -> Parsed { try disjunction() }

  private mutating func disjunction() throws(QueryError) -> Parsed {
    let first = try conjunction()
    guard case .predicate(let node) = first else { return first }
    var parts = [node]
    while token.isSymbol("||") || token.keyword == "or" {
      try advance()
      guard case .predicate(let next) = try conjunction() else { throw fault("a comparison") }
      parts.append(next)
    }
    return .predicate(parts.count == 1 ? parts[0] : .or(parts))
  }

  private mutating func conjunction() throws(QueryError) -> Parsed {
    let first = try negation()
    guard case .predicate(let node) = first else { return first }
    var parts = [node]
    while token.isSymbol("&&") || token.keyword == "and" {
      try advance()
      guard case .predicate(let next) = try negation() else { throw fault("a comparison") }
      parts.append(next)
    }
    return .predicate(parts.count == 1 ? parts[0] : .and(parts))
  }

  private mutating func negation() throws(QueryError) -> Parsed {
    if token.isSymbol("!") || token.keyword == "not" {
      try advance()
      return try nested { parser throws(QueryError) in
        guard case .predicate(let node) = try parser.negation() else { throw parser.fault("a condition after NOT") }
        return .predicate(.not(node))
      }
    }
    switch token.keyword {
    case "truepredicate":
      try advance()
      return .predicate(.constant(true))
    case "falsepredicate":
      try advance()
      return .predicate(.constant(false))
    default: return try comparison()
    }
  }

  /// A comparison, or the contents of brackets: a condition, or an expression that continues.
  private mutating func comparison() throws(QueryError) -> Parsed {
    let start = token.start
    let left: ExpressionNode
    if let quantifier = quantifier() {
      left = try quantified(quantifier)
    } else {
      switch try sum() {
      case .predicate(let node): return .predicate(node)
      case .expression(let expression): left = expression
      }
    }
    if token.keyword == "geowithin" { throw try geoWithin() }
    guard let comparator = comparisonOperator() else {
      if case .quantified = left { throw fault("an operator") }
      return .expression(left)
    }
    try advance()
    if comparator == .text, token.isSymbol("[") { throw fault("a text, for TEXT takes no options") }
    let folding = try options()
    if comparator == .between { try expectBounds() }
    let begin = token
    let right: ExpressionNode
    if let quantifier = quantifier(), !follows(UInt8(ascii: "=")) {
      right = try quantified(quantifier)
    } else {
      guard case .expression(let expression) = try sum() else { throw fault("a value or a property") }
      right = expression
    }
    if comparator == .in, case .constant(let value) = right { try expectText(value, at: begin) }
    var comparison = Comparison(left, comparator, right)
    if let folding { comparison = Comparison(.folded(left, folding), comparator, .folded(right, folding)) }
    comparison.place = TextPlace(start)
    return .predicate(.comparison(comparison))
  }

  /// Rejects a single value, written or given, after BETWEEN, which needs two. Here its position is known.
  private func expectBounds() throws(QueryError) {
    if isLiteral { throw fault("two bounds in braces") }
    guard case .argument(let number, isPath: false) = token.kind, arguments.indices.contains(number) else { return }
    switch arguments[number] {
    case .value, .object, .mixed:
      throw error(.badArgument, "The argument of BETWEEN is one value.", "Give a list of two bounds.", at: token.start)
    case .values, .list, .path: return
    }
  }

  /// Rejects a single value after IN, unless it is a text: IN needs a list or something to search. Here its position is known.
  private func expectText(_ value: Value, at begin: Token) throws(QueryError) {
    if case .string = value { return }
    let remedy = "Give the values in braces, or compare with ==."
    if case .argument = begin.kind { throw error(.badArgument, "The argument of IN is one value.", remedy, at: begin.start) }
    throw error(.syntax, "Expected a list, a text or a collection after IN and found \(value.literal).", remedy, at: begin.start)
  }

  /// Whether the token is a single literal value.
  private var isLiteral: Bool {
    if case .constant = token.kind { return true }
    return isConstantName || token.isSymbol("-") || token.isSymbol("+")
  }

  private func quantifier() -> Quantifier? {
    switch token.keyword {
    case "any", "some": .any
    case "all": .all
    case "none": Quantifier.none
    default: nil
    }
  }

  private mutating func quantified(_ quantifier: Quantifier) throws(QueryError) -> ExpressionNode {
    try advance()
    let begins =
      switch token.kind {
      case .name: self.quantifier() == nil && !isConstantName
      case .at, .argument: true
      default: token.isSymbol("{") || token.isSymbol("(")
      }
    guard begins, case .expression(let expression) = try sum() else { throw fault("a path over a collection") }
    if Parser.beginsWithConstant(expression) { throw fault("a path over a collection") }
    return .quantified(quantifier, expression)
  }

  /// Whether the expression begins with a constant. An argument may turn out to be one, and quantifiers do not apply to it.
  private static func beginsWithConstant(_ expression: ExpressionNode) -> Bool {
    switch expression {
    case .constant: true
    case .arithmetic(_, let left, _): beginsWithConstant(left)
    default: false
    }
  }

  private func comparisonOperator() -> ComparisonOperator? {
    if case .symbol(let symbol) = token.kind {
      switch symbol {
      case "=", "==": return .equal
      case "!=", "<>": return .notEqual
      case "<": return .less
      case "<=", "=<": return .lessOrEqual
      case ">": return .greater
      case ">=", "=>": return .greaterOrEqual
      default: return nil
      }
    }
    switch token.keyword {
    case "in": return .in
    case "between": return .between
    case "contains": return .contains
    case "beginswith": return .beginsWith
    case "endswith": return .endsWith
    case "like": return .like
    case "matches": return .matches
    case "text": return .text
    default: return nil
    }
  }

  /// `[c]`, `[d]` or both.
  mutating func options() throws(QueryError) -> Folding? {
    guard try take("[") else { return nil }
    let letters = token.keyword
    guard let letters, letters.allSatisfy({ $0 == "c" || $0 == "d" }), letters.count <= 2 else { throw fault("c, d or cd") }
    try advance()
    try expect("]")
    return Folding(ignoresCase: letters.contains("c"), ignoresDiacritics: letters.contains("d"))
  }
}
