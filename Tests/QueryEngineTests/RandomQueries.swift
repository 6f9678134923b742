import QueryModel
import StoreValues
import VivariumTestSupport

/// Queries over a `World` that can be bound, every operator and shape among them.
struct RandomQueries {
  var random: SeededGenerator
  let values = RandomValues()

  init(_ random: SeededGenerator) { self.random = random }

  /// A path, the type at its end.
  typealias Path = (path: PropertyPath, type: ValueType)

  mutating func query() -> Query {
    var query = Query(type: "Thing", condition: condition(depth: random.below(4)))
    if random.oneIn(2) { query.sort = sortKeys() }
    if random.oneIn(3) { query.limit = random.below(30) }
    if random.oneIn(3) { for _ in 0...random.below(3) { query.append(clause()) } }
    return query
  }

  private mutating func sortKeys() -> [SortKey] {
    var keys: [SortKey] = []
    for _ in 0...random.below(3) {
      let path = path()
      if path.type == .link { continue }
      let folds = (path.type == .string || path.type == .mixed) && random.oneIn(3)
      keys.append(SortKey(path.path, ascending: random.oneIn(2), folding: folds ? folding() : nil))
    }
    return keys
  }

  private mutating func folding() -> Folding {
    [.caseInsensitive, .diacriticInsensitive, .caseAndDiacriticInsensitive][random.below(3)]
  }

  private mutating func clause() -> QueryClause {
    switch random.below(4) {
    case 0:
      let keys = sortKeys()
      return keys.isEmpty ? .offset(1) : .sort(keys)
    case 1: return .distinct((0...random.below(2)).map { _ in path().path })
    case 2: return .limit(random.below(40))
    default: return .offset(random.below(10))
    }
  }

  mutating func condition(depth: Int) -> PredicateNode {
    if depth == 0 { return random.oneIn(20) ? .constant(random.oneIn(2)) : .comparison(comparison()) }
    switch random.below(3) {
    case 0: return .not(condition(depth: depth - 1))
    case 1: return .and((0..<random.below(4)).map { _ in condition(depth: depth - 1) })
    default: return .or((0..<random.below(4)).map { _ in condition(depth: depth - 1) })
    }
  }

  /// Mostly an own property.
  private mutating func path() -> Path {
    switch random.below(8) {
    case 0: return (PropertyPath(["best"]), .link)
    case 1: return random.oneIn(2) ? (PropertyPath(["home", "name"]), .string) : (PropertyPath(["home", "size"]), .int64)
    case 2:
      let scalar = World.scalars[random.below(World.scalars.count)]
      return (PropertyPath([["best"], ["best", "best"], ["home", "owner"]][random.below(3)] + [scalar.name]), scalar.type)
    default:
      let scalar = World.scalars[random.below(World.scalars.count)]
      return (PropertyPath([scalar.name]), scalar.type)
    }
  }

  private mutating func path(where fits: (Path) -> Bool) -> Path? {
    for _ in 0..<40 {
      let path = path()
      if fits(path) { return path }
    }
    return nil
  }

  mutating func comparison() -> Comparison {
    if random.oneIn(8), let computed = computed() { return computed }
    let (path, type) = path()
    if type == .string, random.oneIn(2) { return ofText(path) }
    var comparators: [ComparisonOperator] = [.equal, .notEqual, .in]
    if type != .link { comparators += [.less, .lessOrEqual, .greater, .greaterOrEqual, .between, .less, .greaterOrEqual] }
    if type == .string || type == .data { comparators += [.contains, .beginsWith, .endsWith, .contains, .beginsWith] }
    let comparator = comparators[random.below(comparators.count)]
    switch comparator {
    case .in: return Comparison(.path(path), .in, .constants((0..<random.below(6)).map { _ in constant(type) }))
    case .between: return Comparison(.path(path), .between, .constants([constant(type), constant(type)]))
    default: break
    }
    if random.oneIn(5), let other = self.path(where: { RandomQueries.comparable(type, $0.type) }) {
      return Comparison(.path(path), comparator, .path(other.path))
    }
    if random.oneIn(6) { return Comparison(.constant(constant(type)), comparator, .path(path)) }
    return Comparison(.path(path), comparator, .constant(constant(type)))
  }

  private static let wholeNumbers: Set<ValueType> = [.int8, .int16, .int32, .int64]
  private static let numbers: Set<ValueType> = wholeNumbers.union([.float, .double, .decimal])

  private static func comparable(_ a: ValueType, _ b: ValueType) -> Bool {
    a == b || (numbers.contains(a) && numbers.contains(b)) || [a, b].contains(.mixed) && ![a, b].contains(.link)
  }

  /// Texts with folding, with patterns, and in each other.
  private mutating func ofText(_ path: PropertyPath) -> Comparison {
    let (none, other) = (random.oneIn(3), self.path(where: { $0.type == .string }))
    let folding = Folding(ignoresCase: random.oneIn(2), ignoresDiacritics: random.oneIn(2))
    func side(_ node: ExpressionNode) -> ExpressionNode {
      none || !folding.ignoresCase && !folding.ignoresDiacritics ? node : .folded(node, folding)
    }
    var right = ExpressionNode.constant(constant(.string))
    switch random.below(5) {
    case 0:
      if random.oneIn(5), let other { return Comparison(side(.path(path)), .like, side(.path(other.path))) }
      return Comparison(side(.path(path)), .like, side(.constant(pattern())))
    case 1:
      let pattern = PlainText.patterns[random.below(PlainText.patterns.count)]
      return Comparison(side(.path(path)), .matches, side(.constant(.string(pattern))))
    case 2:
      return Comparison(.path(path), .text, .constant(.string(PlainText.sought[random.below(PlainText.sought.count)])))
    case 3:
      if let other, random.oneIn(2) { return Comparison(.path(path), .in, .path(other.path)) }
      if right == .constant(.null) { right = .constant(.string("a")) }
      return Comparison(right, .in, .path(path))
    default:
      let comparators: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .contains, .beginsWith, .endsWith]
      if let other, random.oneIn(3) { right = .path(other.path) }
      let comparator = comparators[random.below(comparators.count)]
      if case .constant = right, random.oneIn(5) { return Comparison(side(right), comparator, side(.path(path))) }
      return Comparison(side(.path(path)), comparator, side(right))
    }
  }

  private mutating func pattern() -> Value {
    if random.oneIn(12) { return .null }
    let parts = ["a", "A", "á", "*", "?", "*", "b", "x", "%", "_", "\\"]
    return .string((0..<random.below(5)).map { _ in parts[random.below(parts.count)] }.joined())
  }

  /// A comparison of what is computed with numbers.
  private mutating func computed() -> Comparison? {
    func number(_ random: inout RandomQueries) -> ExpressionNode? {
      random.path(where: { $0.type == .double || RandomQueries.wholeNumbers.contains($0.type) }).map { .path($0.path) }
    }
    guard let a = number(&self), let b = number(&self), let c = number(&self) else { return nil }
    func small(_ random: inout SeededGenerator) -> ExpressionNode { .constant(.int(Int64(random.below(5)) - 1)) }
    let sign = ArithmeticOperator.allCases[random.below(ArithmeticOperator.allCases.count)]
    var left = ExpressionNode.arithmetic(sign, a, random.oneIn(2) ? b : small(&random))
    if random.oneIn(3) { left = .arithmetic(.subtract, small(&random), left) }
    let comparators: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
    return Comparison(left, comparators[random.below(6)], random.oneIn(2) ? c : small(&random))
  }

  /// A constant that may be compared with the type: of any numeric type for numbers, sometimes null.
  private mutating func constant(_ type: ValueType) -> Value {
    let numbers = RandomQueries.numbers.sorted { $0.rawValue < $1.rawValue }
    let type = RandomQueries.numbers.contains(type) ? numbers[random.below(numbers.count)] : type
    if type == .link { return random.oneIn(3) ? .null : .link(.init(Int64(random.below(40) + 1))) }
    let value = values.value(type, isOptional: random.oneIn(2), &random)
    switch value {
    // A written collection has another meaning, and there is no literal of one.
    case .list, .map: return .int(1)
    default: return value
    }
  }
}
