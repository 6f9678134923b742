import QueryEngine
import QueryModel
import StoreValues
import VivariumTestSupport

/// Conditions over a `CollectionWorld` that can be bound: every kind of path, quantifier and operator.
struct RandomCollectionQueries {
  var random: SeededGenerator

  init(_ random: SeededGenerator) { self.random = random }

  /// A path, what its values are, and whether it stands for many.
  private struct Path {
    let text: String
    let type: ValueType
    let isMany: Bool
    /// What `@type` says of the values.
    let isTypeName: Bool

    init(_ text: String, _ type: ValueType, _ isMany: Bool = false, isTypeName: Bool = false) {
      self.text = text
      self.type = type
      self.isMany = isMany
      self.isTypeName = isTypeName
    }
  }

  private static let paths: [Path] = [
    Path("n", .int64), Path("d", .double), Path("s", .string), Path("x", .mixed), Path("next.n", .int64), Path("next.s", .string),
    Path("next.x", .mixed), Path("next.next.d", .double), Path("addr.city", .string), Path("addr.zip", .int64), Path("next.addr.zip", .int64),
    Path("nums", .int64, true), Path("tags", .string, true), Path("scores", .double, true), Path("mixes", .mixed, true), Path("mm", .mixed, true),
    Path("next.nums", .int64, true), Path("next.scores", .double, true), Path("links.n", .int64, true), Path("links.s", .string, true),
    Path("links.x", .mixed, true), Path("links.next.n", .int64, true), Path("links.addr.city", .string, true), Path("links.nums", .int64, true),
    Path("parts.d", .double, true), Path("parts.tags", .string, true), Path("named.n", .int64, true), Path("addresses.zip", .int64, true),
    Path("addresses.city", .string, true), Path("by.n", .int64, true), Path("by.links.d", .double, true), Path("next.by.n", .int64, true),
    Path("named['p'].n", .int64), Path("named['a'].s", .string), Path("next.named['k'].d", .double), Path("links.named['p'].n", .int64, true),
    Path("nums[0]", .int64), Path("nums[1]", .int64), Path("nums[LAST]", .int64), Path("next.nums[0]", .int64), Path("scores['a']", .double),
    Path("next.scores['k']", .double), Path("scores.@keys", .string, true), Path("mm.@keys", .string, true), Path("mm['k']", .mixed),
    Path("mixes[0]", .mixed), Path("mixes[1]", .mixed), Path("mixes[0][*]", .mixed, true), Path("mixes[*][*]", .mixed, true),
    Path("mm['a'].k", .mixed), Path("mm['a'][0]", .mixed), Path("x['k']", .mixed), Path("x[0]", .mixed), Path("x[*]", .mixed, true),
    Path("x['a']['k']", .mixed), Path("x.n", .mixed), Path("links.mm['k']", .mixed, true), Path("links.x['a']", .mixed, true),
    Path("nums.@count", .int64), Path("nums.@sum", .int64), Path("nums.@min", .int64), Path("nums.@max", .int64), Path("nums.@avg", .double),
    Path("tags.@count", .int64), Path("scores.@count", .int64), Path("scores.@max", .double), Path("scores.@sum", .double), Path("mixes.@count", .int64),
    Path("mm.@count", .int64), Path("links.@count", .int64), Path("parts.@count", .int64), Path("named.@count", .int64), Path("by.@count", .int64),
    Path("addresses.@count", .int64), Path("next.links.@count", .int64), Path("next.by.@count", .int64), Path("links.links.@count", .int64, true),
    Path("links.by.@count", .int64, true), Path("links.next.@count", .int64, true), Path("next.nums.@count", .int64), Path("links.nums.@max", .int64, true),
    Path("links.@sum.n", .int64), Path("links.@min.d", .double), Path("parts.@max.n", .int64), Path("named.@avg.d", .double), Path("by.@sum.n", .int64),
    Path("links.links.@max.n", .int64), Path("next.links.@sum.d", .double), Path("addresses.@min.zip", .int64),
    Path("s.length", .int64), Path("tags.length", .int64, true), Path("next.s.length", .int64), Path("links.tags.length", .int64, true),
    Path("x.@type", .string, isTypeName: true), Path("mixes.@type", .string, true, isTypeName: true), Path("mm.@type", .string, true, isTypeName: true),
    Path("next.x.@type", .string, isTypeName: true), Path("mixes[0].@type", .string, isTypeName: true), Path("mm['k'].@type", .string, isTypeName: true),
    Path("next", .link), Path("next.next", .link), Path("links", .link, true), Path("parts", .link, true), Path("by", .link, true),
    Path("next.links", .link, true), Path("links.next", .link, true), Path("named['p']", .link), Path("links[0]", .link),
    Path("@links.Item.next.n", .int64, true), Path("@links.Item.next.@count", .int64), Path("@links.Item.parts.s", .string, true),
    Path("@links.Item.parts.@max.d", .double), Path("next.@links.Item.next.n", .int64, true), Path("links[0].n", .int64), Path("links[LAST].s", .string),
    Path("by[0].n", .int64), Path("@links.Item.next[LAST].s", .string), Path("links.by[LAST].d", .double, true), Path("next.by[0]", .link),
    Path("links.links.links.n", .int64, true), Path("links.links.next.s", .string, true), Path("named.tags", .string, true), Path("links.@count", .int64),
  ]

  /// Paths to one value each, which objects can be ordered by or told apart.
  static let single = [
    "n", "d", "s", "x", "next.n", "next.s", "next.x", "next.next.d", "addr.city", "next.addr.zip", "nums.@count", "nums.@sum", "tags.@count",
    "scores.@max", "links.@count", "parts.@count", "by.@count", "links.@sum.n", "by.@min.d", "next.links.@count", "next.by.@max.n", "nums[0]",
    "nums[LAST]", "scores['a']", "named['p'].n", "addresses.@min.zip", "@links.Item.next.@count", "s.length", "links.@avg.d",
  ]

  /// A condition with clauses behind it.
  mutating func query() -> Query {
    var query = Query(type: "Item", condition: condition(depth: random.below(3)))
    if !random.oneIn(3) { return query }
    for _ in 0...random.below(4) {
      switch random.below(4) {
      case 0, 1: query.append(.sort((0...random.below(2)).map { _ in SortKey(singlePath(), ascending: random.oneIn(2)) }))
      case 2: query.append(random.oneIn(2) ? .limit(random.below(12)) : .offset(random.below(4)))
      default: query.append(.distinct((0...random.below(2)).map { _ in random.oneIn(8) ? PropertyPath("next") : singlePath() }))
      }
    }
    return query
  }

  private mutating func singlePath() -> PropertyPath {
    let text = RandomCollectionQueries.single[random.below(RandomCollectionQueries.single.count)]
    guard case .comparison(let comparison)? = try? PredicateNode(parsing: "\(text) == 1"), case .path(let path) = comparison.left
    else { return PropertyPath("n") }
    return path
  }

  mutating func condition(depth: Int, variables: [String] = []) -> PredicateNode {
    if depth == 0 { return random.oneIn(25) ? .constant(random.oneIn(2)) : .comparison(comparison(variables)) }
    switch random.below(3) {
    case 0: return .not(condition(depth: depth - 1, variables: variables))
    case 1: return .and((0..<random.below(3)).map { _ in condition(depth: depth - 1, variables: variables) })
    default: return .or((0..<random.below(3)).map { _ in condition(depth: depth - 1, variables: variables) })
    }
  }

  private mutating func path(_ variables: [String], where fits: (Path) -> Bool) -> (node: ExpressionNode, path: Path)? {
    for _ in 0..<30 {
      let path = RandomCollectionQueries.paths[random.below(RandomCollectionQueries.paths.count)]
      guard fits(path), case .comparison(let comparison)? = try? PredicateNode(parsing: "\(path.text) == 1"),
        case .path(var written) = comparison.left
      else { continue }
      // In a SUBQUERY: the element's own, with its variable or without, or one of the objects round it.
      if !variables.isEmpty {
        let outer = ["SELF"] + variables
        if random.oneIn(2) { written.components.insert(outer[random.below(outer.count)], at: 0) }
      }
      return (.path(written), path)
    }
    return nil
  }

  private mutating func comparison(_ variables: [String]) -> Comparison {
    if variables.count < 2, random.oneIn(10) { return subquery(variables) }
    guard let found = self.path(variables, where: { _ in true }) else {
      return Comparison(.constant(.int(1)), .equal, .constant(.int(1)))
    }
    let path = found.path
    if path.isTypeName { return ofTypes(found.node, path) }
    if path.type == .link { return ofObjects(found.node, path, variables) }
    if path.type == .string, random.oneIn(3) { return ofText(found.node, path, variables) }
    var left = found.node
    if path.type == .int64 || path.type == .double, random.oneIn(7) { left = computed(left, path, variables) }
    var comparators: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in, .between]
    if path.type == .string { comparators += [.contains, .beginsWith, .endsWith] }
    let comparator = comparators[random.below(comparators.count)]
    // A quantifier stands before a path.
    if case .arithmetic(_, .constant, _) = left {} else { left = quantified(left, path) }
    switch comparator {
    case .between: return Comparison(left, .between, .constants((0..<2).map { _ in constant(path.type, isOptional: false) }))
    case .in: return Comparison(left, .in, list(path.type))
    default: break
    }
    if random.oneIn(4), let (right, other) = self.path(variables, where: { !$0.isTypeName && RandomCollectionQueries.meet($0.type, path.type) }) {
      return Comparison(left, comparator, quantified(right, other))
    }
    if random.oneIn(8) { return Comparison(left, comparator, list(path.type)) }
    return Comparison(left, comparator, .constant(constant(path.type)))
  }

  private mutating func quantified(_ node: ExpressionNode, _ path: Path) -> ExpressionNode {
    path.isMany && random.oneIn(2) ? .quantified(Quantifier.allCases[random.below(3)], node) : node
  }

  private mutating func computed(_ node: ExpressionNode, _ path: Path, _ variables: [String]) -> ExpressionNode {
    let sign = ArithmeticOperator.allCases[random.below(ArithmeticOperator.allCases.count)]
    if random.oneIn(3), let (other, _) = self.path(variables, where: { $0.type == .int64 || $0.type == .double }) {
      return .arithmetic(sign, node, other)
    }
    let number = ExpressionNode.constant(.int(Int64(random.below(4)) - 1))
    return random.oneIn(3) ? .arithmetic(sign, number, node) : .arithmetic(sign, node, number)
  }

  private mutating func ofTypes(_ node: ExpressionNode, _ path: Path) -> Comparison {
    let names = ["null", "int", "double", "string", "bool", "decimal", "link", "list", "object", "numeric", "collection"]
    func name(_ random: inout SeededGenerator) -> Value { .string(names[random.below(names.count)]) }
    let left = quantified(node, path)
    if random.oneIn(4) { return Comparison(left, .in, .constants((0..<random.below(4)).map { _ in name(&random) })) }
    return Comparison(left, random.oneIn(3) ? .notEqual : .equal, .constant(name(&random)))
  }

  /// Links with named objects, with null, and with each other.
  private mutating func ofObjects(_ node: ExpressionNode, _ path: Path, _ variables: [String]) -> Comparison {
    let left = quantified(node, path)
    func object(_ random: inout SeededGenerator) -> ExpressionNode {
      .object(ObjectLiteral(type: "Item", .key(ObjectKey(Int64(1 + random.below(14))))))
    }
    let comparator: ComparisonOperator = random.oneIn(3) ? .notEqual : .equal
    switch random.below(5) {
    case 0 where !path.isMany: return Comparison(left, comparator, .constant(.null))
    case 1: return Comparison(left, .in, .list((0...random.below(3)).map { _ in object(&random) }))
    case 2, 3:
      if let (right, other) = self.path(variables, where: { $0.type == .link }) {
        return Comparison(left, comparator, quantified(right, other))
      }
      return Comparison(left, comparator, object(&random))
    default: return Comparison(left, comparator, object(&random))
    }
  }

  /// Text with folding and with patterns.
  private mutating func ofText(_ node: ExpressionNode, _ path: Path, _ variables: [String]) -> Comparison {
    let folding = Folding(ignoresCase: random.oneIn(2), ignoresDiacritics: random.oneIn(2))
    func side(_ node: ExpressionNode) -> ExpressionNode {
      folding.ignoresCase || folding.ignoresDiacritics ? .folded(node, folding) : node
    }
    let left = quantified(node, path)
    let comparators: [ComparisonOperator] = [.equal, .notEqual, .less, .greaterOrEqual, .contains, .beginsWith, .endsWith, .like, .like, .matches, .text]
    let comparator = comparators[random.below(comparators.count)]
    if comparator == .matches {
      return Comparison(side(left), .matches, side(.constant(.string(PlainText.patterns[random.below(PlainText.patterns.count)]))))
    }
    if comparator == .text {
      return Comparison(left, .text, .constant(.string(PlainText.sought[random.below(PlainText.sought.count)])))
    }
    if random.oneIn(4), let (right, other) = self.path(variables, where: { $0.type == .string && !$0.isTypeName }) {
      return Comparison(side(left), comparator, side(quantified(right, other)))
    }
    let text = comparator == .like ? Value.string(["*", "?", "a*", "*b", "?b", "*A*", ""][random.below(7)]) : constant(.string)
    return Comparison(side(left), comparator, side(.constant(text)))
  }

  private mutating func list(_ type: ValueType) -> ExpressionNode {
    let values = ExpressionNode.constants((0..<random.below(5)).map { _ in constant(type, isOptional: random.oneIn(6)) })
    return random.oneIn(3) ? .quantified(Quantifier.allCases[random.below(3)], values) : values
  }

  private mutating func subquery(_ variables: [String]) -> Comparison {
    let collections = ["links", "by", "next.links", "links.links"]
    let text = collections[random.below(collections.count)]
    let variable = "$v\(variables.count)"
    let inner = condition(depth: random.below(2), variables: variables + [variable])
    let subquery = Subquery(collection: PropertyPath(text), variable: variable, condition: inner)
    let comparators: [ComparisonOperator] = [.equal, .greater, .lessOrEqual, .notEqual]
    return Comparison(.subquery(subquery), comparators[random.below(4)], .constant(.int(Int64(random.below(3)))))
  }

  private static func meet(_ a: ValueType, _ b: ValueType) -> Bool {
    let numbers: Set<ValueType> = [.int64, .double]
    return a == b || numbers.contains(a) && numbers.contains(b)
  }

  private mutating func constant(_ type: ValueType, isOptional: Bool = true) -> Value {
    if isOptional, random.oneIn(6) { return .null }
    switch type {
    case .mixed: return CollectionWorld.value([.int64, .double, .string, .bool][random.below(4)], isOptional: false, &random)
    case .int64, .double: return CollectionWorld.value(random.oneIn(4) ? .double : .int64, isOptional: false, &random)
    default: return CollectionWorld.value(type, isOptional: false, &random)
    }
  }
}
