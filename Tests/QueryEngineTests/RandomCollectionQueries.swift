import QueryEngine
import QueryModel
import TestSupport
import Values

/// Conditions over a `CollectionWorld` that can be bound: every kind of path, quantifier and operator.
struct RandomCollectionQueries {
  var random: SeededGenerator

  init(_ random: SeededGenerator) { self.random = random }

  /// A path, what its values are, and whether it stands for many.
  private struct Path {
    let text: String
    let type: ValueType
    let isMany: Bool

    init(_ text: String, _ type: ValueType, _ isMany: Bool = false) {
      self.text = text
      self.type = type
      self.isMany = isMany
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
  ]

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
    var left = found.node
    let path = found.path
    if path.type == .int64, !path.isMany || random.oneIn(2), random.oneIn(8) {
      left = .arithmetic(.add, left, .constant(.int(Int64(random.below(3)))))
    }
    var comparators: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in, .between]
    if path.type == .string { comparators += [.contains, .beginsWith, .endsWith] }
    let comparator = comparators[random.below(comparators.count)]
    if path.isMany, random.oneIn(2) { left = .quantified(Quantifier.allCases[random.below(3)], left) }
    switch comparator {
    case .between: return Comparison(left, .between, .constants((0..<2).map { _ in constant(path.type, isOptional: false) }))
    case .in: return Comparison(left, .in, list(path.type))
    default: break
    }
    if random.oneIn(4), let (right, other) = self.path(variables, where: { RandomCollectionQueries.meet($0.type, path.type) }) {
      var right = right
      if other.isMany, random.oneIn(2) { right = .quantified(Quantifier.allCases[random.below(3)], right) }
      return Comparison(left, comparator, right)
    }
    if random.oneIn(8) { return Comparison(left, comparator, list(path.type)) }
    return Comparison(left, comparator, .constant(constant(path.type)))
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
