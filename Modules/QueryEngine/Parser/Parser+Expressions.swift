import QueryModel
import StoreValues

extension Parser {
  /// `a + b - c`. A condition in brackets is returned unchanged.
  mutating func sum() throws(QueryError) -> Parsed {
    try chain([.add, .subtract]) { parser throws(QueryError) in try parser.product() }
  }

  private mutating func product() throws(QueryError) -> Parsed {
    try chain([.multiply, .divide]) { parser throws(QueryError) in try parser.power() }
  }

  private mutating func power() throws(QueryError) -> Parsed {
    try chain([.power]) { parser throws(QueryError) in try parser.factor() }
  }

  /// A chain of terms, each of which makes the tree one level deeper.
  private mutating func chain(
    _ signs: [ArithmeticOperator], of body: (inout Parser) throws(QueryError) -> Parsed
  ) throws(QueryError) -> Parsed {
    let outer = height
    height = 0
    defer { height = max(outer, height) }
    let first = try body(&self)
    guard case .expression(var result) = first else { return first }
    var (terms, reached) = (1, height)
    while let sign = arithmeticSign(signs) {
      terms += 1
      height = 0
      result = .arithmetic(sign, result, try term(terms, body))
      reached = max(reached, height) + 1
      guard reached <= Parser.heightLimit else {
        throw error(
          .tooComplex, "Brackets and terms make this more than \(Parser.heightLimit) deep.", "Use fewer of them.",
          at: token.start)
      }
    }
    height = reached
    return .expression(result)
  }

  private func arithmeticSign(_ signs: [ArithmeticOperator]) -> ArithmeticOperator? {
    guard case .symbol(let symbol) = token.kind else { return nil }
    return signs.first { $0.rawValue == symbol }
  }

  private mutating func term(
    _ number: Int, _ body: (inout Parser) throws(QueryError) -> Parsed
  ) throws(QueryError) -> ExpressionNode {
    guard number <= Parser.termsLimit else {
      throw error(.tooComplex, "More than \(Parser.termsLimit) terms in a row.", "Use fewer terms.", at: token.start)
    }
    try advance()
    guard case .expression(let expression) = try body(&self) else { throw fault("a number") }
    return expression
  }

  private mutating func factor() throws(QueryError) -> Parsed {
    switch token.kind {
    case .constant(let value):
      try advance()
      if case .string = value {} else if case .name = token.kind, lastEnd == token.start { throw fault("a space") }
      return .expression(.constant(value))
    case .unsupported(let name):
      throw error(.notSupported, "Literals '\(name)' are of a type that no property has.", "Use another value.", at: token.start)
    case .symbol("("):
      try advance()
      let inner = try nested { parser throws(QueryError) in try parser.anything() }
      try expect(")")
      return inner
    case .symbol("{"): return .expression(try list())
    case .symbol("-"), .symbol("+"): return .expression(try signed())
    case .argument(_, isPath: false): return .expression(try argument())
    case .argument(_, isPath: true), .at: return .expression(.path(try path()))
    case .name:
      if follows(UInt8(ascii: "(")), let call = try call() { return .expression(call) }
      if let constant = constantName() {
        try advance()
        return .expression(.constant(constant))
      }
      if let keyword = token.keyword, Parser.reserved.contains(keyword) { throw fault("a value or a property") }
      return .expression(try pathOrVariable())
    default: throw fault("a value or a property")
    }
  }

  /// `SUBQUERY(…)`, `obj(…)`, and `sum(items)` for `items.@sum`; nil for other names.
  private mutating func call() throws(QueryError) -> ExpressionNode? {
    switch token.keyword {
    case "subquery": return try subquery()
    case "obj": return .object(try object())
    case "sum", "min", "max", "count", "average":
      let name = token.keyword == "average" ? "avg" : token.keyword ?? ""
      try advance()
      try expect("(")
      var path = try path()
      try expect(")")
      path.components.append("@" + name)
      return .path(path)
    default: return nil
    }
  }

  private mutating func object() throws(QueryError) -> ObjectLiteral {
    let place = TextPlace(token.start)
    try advance()
    try expect("(")
    let type = token
    guard case .expression(.constant(.string(let name))) = try factor() else {
      throw error(
        .syntax, "An object is named by its type's name in quotes and its primary key.", "Write obj('Type', key).", at: type.start)
    }
    try expect(",")
    let start = token.start
    guard case .expression(.constant(let value)) = try factor() else {
      throw error(.syntax, "A primary key is one value.", "Write obj('Type', key).", at: start)
    }
    try expect(")")
    var object = ObjectLiteral(type: name, .primaryKey(value))
    if case .link(let key) = value { object.identity = .key(key) }
    object.place = place
    return object
  }

  /// A name with a dollar alone is a variable, unless an enclosing SUBQUERY defines it.
  private mutating func pathOrVariable() throws(QueryError) -> ExpressionNode {
    guard case .name(let name, isEscaped: false) = token.kind, name.hasPrefix("$"), !subqueryVariables.contains(name) else {
      return .path(try path())
    }
    let path = try path()
    return path.components == [name] ? .variable(String(name.dropFirst())) : .path(path)
  }

  static let reserved: Set<String> = [
    "and", "or", "not", "any", "some", "all", "none", "truepredicate", "falsepredicate",
  ]

  /// A sign must directly precede a number; otherwise it is an error.
  private mutating func signed() throws(QueryError) -> ExpressionNode {
    let isNegative = token.isSymbol("-")
    try advance()
    let value: Value?
    if case .constant(let constant) = token.kind { value = constant } else { value = constantName() }
    switch value {
    case .int(let number)? where lastEnd == token.start:
      try advance()
      return .constant(.int(isNegative ? -number : number))
    case .double(let number)? where lastEnd == token.start:
      try advance()
      return .constant(.double(isNegative ? -number : number))
    case .float(let number)? where lastEnd == token.start:
      try advance()
      return .constant(.float(isNegative ? -number : number))
    case .decimal(let number)? where lastEnd == token.start:
      try advance()
      // The lowest Int64 has no positive counterpart.
      if isNegative, let lowest = Int64(exactly: -number) { return .constant(.int(lowest)) }
      return .constant(.decimal(isNegative ? -number : number))
    default: throw fault("a number after the sign")
    }
  }

  /// The constant that a bare name stands for.
  func constantName() -> Value? {
    switch token.keyword {
    case "true", "yes": .bool(true)
    case "false", "no": .bool(false)
    case "null", "nil": .null
    case "nan": .double(.nan)
    case "inf", "infinity": .double(.infinity)
    default: nil
    }
  }

  var isConstantName: Bool { constantName() != nil }

  /// `{1, 2}`: values and objects.
  private mutating func list() throws(QueryError) -> ExpressionNode {
    try expect("{")
    var elements: [ExpressionNode] = []
    var wantsMore = try take(",")
    while wantsMore || !token.isSymbol("}") {
      let start = token.start
      if token.isSymbol("{") { throw fault("a value: lists hold no lists") }
      let isGiven = if case .argument = token.kind { true } else { false }
      switch try nested({ parser throws(QueryError) in try parser.sum() }) {
      case .expression(.constants(let more)): elements += more.map { .constant($0) }
      case .expression(.list(let more)): elements += more
      case .expression(let element) where element.isElement: elements.append(element)
      default:
        // The grammar allows no path in a list, but does not know that an argument is one.
        throw error(
          isGiven ? .notSupported : .syntax, "A list in a condition holds values only.", "Write them, or give one argument.", at: start)
      }
      wantsMore = try take(",")
      if !wantsMore, !token.isSymbol("}") { throw fault("',' or '}'") }
    }
    try advance()
    let values = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
    return values.count == elements.count ? .constants(values) : .list(elements)
  }

  private mutating func argument() throws(QueryError) -> ExpressionNode {
    let place = TextPlace(token.start)
    switch try takeArgument() {
    case .value(let value): return .constant(value)
    case .values(let values): return .constants(values)
    case .path(var path):
      path.place = place
      return .path(path)
    case .object(var object):
      object.place = place
      return .object(object)
    case .mixed(let mixed): return .mixed(mixed)
    case .list(let elements): return .list(elements)
    }
  }

  private mutating func takeArgument() throws(QueryError) -> QueryArgument {
    guard case .argument(let number, _) = token.kind else { throw fault("an argument") }
    guard number < arguments.count else {
      throw error(
        .missingArgument, "The condition asks for \(number + 1) arguments and was given \(arguments.count).",
        "Give one for each place.", at: token.start)
    }
    try advance()
    return arguments[number]
  }

  private mutating func subquery() throws(QueryError) -> ExpressionNode {
    let start = token.start
    try advance()
    try expect("(")
    let collection = try path()
    try expect(",")
    guard case .name(let variable, isEscaped: false) = token.kind, variable.hasPrefix("$"), variable.utf8.count > 1 else {
      throw fault("a variable, as $x")
    }
    try advance()
    try expect(",")
    subqueryVariables.append(variable)
    let condition = try nested { parser throws(QueryError) in try parser.predicate() }
    subqueryVariables.removeLast()
    try expect(")")
    try expect(".")
    guard token.kind == .at("count") || token.kind == .at("size") else {
      throw error(.syntax, "A SUBQUERY can only be counted.", "Write .@count after it.", at: start)
    }
    try advance()
    return .subquery(Subquery(collection: collection, variable: variable, condition: condition))
  }
}

extension Parser {
  private static let operators: [String: String] = [
    "count": "@count", "size": "@size", "min": "@min", "max": "@max", "sum": "@sum", "avg": "@avg", "average": "@avg",
    "type": "@type", "keys": "@keys", "allkeys": "@keys", "values": "@values", "allvalues": "@values", "links": "@links",
  ]

  /// Names joined by dots, with operators such as `@count`, and `[0]`, `[FIRST]`, `['key']`.
  mutating func path() throws(QueryError) -> PropertyPath {
    var components: [String] = []
    let start = token.start
    repeat {
      if let last = components.last, last == "@count" || last == "@size" {
        throw error(.syntax, "Nothing can follow '\(last)'.", "End the path there.", at: token.start)
      }
      switch token.kind {
      case .name where components.last == "@links": components.append(try typeName())
      case .name(let name, let isEscaped):
        if components.isEmpty, !isEscaped, Parser.reserved.contains(name.lowercased()) { throw fault("a property") }
        try advance()
        components.append(components.isEmpty && !isEscaped && name.lowercased() == "self" ? "SELF" : name)
      case .at(let name):
        let name = name.lowercased()
        guard let written = Parser.operators[name] else { throw fault("a property or a collection operator") }
        guard name == "links" || !components.isEmpty else {
          throw error(.syntax, "'@\(name)' needs a collection before it.", "Name one.", at: token.start)
        }
        try advance()
        components.append(written)
      case .argument(_, isPath: true):
        switch try takeArgument() {
        case .path(let path): components += path.components
        case .value(.string(let text)): components += PropertyPath(text).components
        default: throw error(.badArgument, "The argument of a path is no path.", "Give a path or a string.", at: start)
        }
      default: throw fault("a property")
      }
      // A position applies to a collection, not to an operator's result; `@keys` and `@values` give collections.
      if token.isSymbol("["), let last = components.last, last.hasPrefix("@"), last != "@keys", last != "@values" {
        throw error(.syntax, "No position can follow '\(last)'.", "Put it behind the collection.", at: token.start)
      }
      while try take("[") {
        components.append(try index())
      }
    } while try take(".")
    var path = PropertyPath(components)
    path.place = TextPlace(start)
    return path
  }

  private mutating func index() throws(QueryError) -> String {
    let text: String
    switch token.kind {
    case .symbol("*"): text = "[*]"
    case .argument(_, isPath: false):
      let start = token.start
      switch try takeArgument() {
      case .value(.int(let number)): text = "[\(number)]"
      case .value(.string(let key)): text = "['\(key)']"
      default: throw error(.badArgument, "The argument of a subscript is no position and no key.", "Give a number or a string.", at: start)
      }
      try expect("]")
      return text
    case .constant(.int(let number)): text = "[\(number)]"
    case .constant(.string(let key)): text = "['\(key)']"
    case .name where ["first", "last", "size"].contains(token.keyword): text = "[\(token.keyword ?? "")]"
    default: throw fault("a position, FIRST, LAST or a key")
    }
    try advance()
    try expect("]")
    return text
  }
}

extension Parser {
  /// The name of a type after `@links.`; its hyphens need no backslash.
  private mutating func typeName() throws(QueryError) -> String {
    guard case .name(var name, _) = token.kind else { throw fault("a type") }
    try advance()
    while token.isSymbol("-"), lastEnd == token.start {
      try advance()
      guard case .name(let part, _) = token.kind, lastEnd == token.start else { throw fault("the rest of the type's name") }
      name += "-" + part
      try advance()
    }
    return name
  }
}

extension ExpressionNode {
  /// Whether it can stand in a list.
  fileprivate var isElement: Bool {
    switch self {
    case .constant, .object, .mixed, .variable: true
    default: false
    }
  }
}
