import QueryModel
import TestSupport
import Values

/// Queries over a `World` that can be bound, every operator and shape among them.
struct RandomQueries {
  var random: SeededGenerator
  let values = RandomValues()

  init(_ random: SeededGenerator) { self.random = random }

  mutating func query() -> Query {
    var query = Query(type: "Thing", condition: condition(depth: random.below(4)))
    if random.oneIn(2) {
      for _ in 0...random.below(3) {
        let (path, _) = path()
        if path.components.last == "best" || path.components.last == "home" { continue }
        query.sort.append(SortKey(path, ascending: random.oneIn(2)))
      }
    }
    if random.oneIn(3) { query.limit = random.below(30) }
    return query
  }

  mutating func condition(depth: Int) -> PredicateNode {
    if depth == 0 { return random.oneIn(20) ? .constant(random.oneIn(2)) : .comparison(comparison()) }
    switch random.below(3) {
    case 0: return .not(condition(depth: depth - 1))
    case 1: return .and((0..<random.below(4)).map { _ in condition(depth: depth - 1) })
    default: return .or((0..<random.below(4)).map { _ in condition(depth: depth - 1) })
    }
  }

  /// A path and the type at its end, mostly an own property.
  private mutating func path() -> (PropertyPath, ValueType) {
    switch random.below(8) {
    case 0: return (PropertyPath(["best"]), .link)
    case 1: return (PropertyPath(["home", random.oneIn(2) ? "name" : "size"]), .string)
    case 2:
      let scalar = World.scalars[random.below(World.scalars.count)]
      return (PropertyPath([["best"], ["best", "best"], ["home", "owner"]][random.below(3)] + [scalar.name]), scalar.type)
    default:
      let scalar = World.scalars[random.below(World.scalars.count)]
      return (PropertyPath([scalar.name]), scalar.type)
    }
  }

  private mutating func typedPath() -> (PropertyPath, ValueType) {
    let (path, type) = path()
    return (path, path.components.last == "size" ? .int64 : type)
  }

  mutating func comparison() -> Comparison {
    let (path, type) = typedPath()
    var comparators: [ComparisonOperator] = [.equal, .notEqual, .in]
    if type != .link { comparators += [.less, .lessOrEqual, .greater, .greaterOrEqual, .between, .less, .greaterOrEqual] }
    if type == .string || type == .data { comparators += [.contains, .beginsWith, .endsWith, .contains, .beginsWith] }
    let comparator = comparators[random.below(comparators.count)]
    switch comparator {
    case .in: return Comparison(.path(path), .in, .constants((0..<random.below(6)).map { _ in constant(type) }))
    case .between: return Comparison(.path(path), .between, .constants([constant(type), constant(type)]))
    default: break
    }
    if random.oneIn(5) {
      for _ in 0..<20 {
        let (other, otherType) = typedPath()
        if RandomQueries.comparable(type, otherType) { return Comparison(.path(path), comparator, .path(other)) }
      }
    }
    if random.oneIn(6) { return Comparison(.constant(constant(type)), comparator, .path(path)) }
    return Comparison(.path(path), comparator, .constant(constant(type)))
  }

  private static func comparable(_ a: ValueType, _ b: ValueType) -> Bool {
    let numbers: Set<ValueType> = [.int8, .int16, .int32, .int64, .float, .double]
    return a == b || (numbers.contains(a) && numbers.contains(b))
  }

  /// A constant that may be compared with the type: of any numeric type for numbers, sometimes null.
  private mutating func constant(_ type: ValueType) -> Value {
    let numbers: [ValueType] = [.int8, .int16, .int32, .int64, .float, .double]
    let type = numbers.contains(type) ? numbers[random.below(numbers.count)] : type
    if type == .link { return random.oneIn(3) ? .null : .link(.init(Int64(random.below(40) + 1))) }
    return values.value(type, isOptional: random.oneIn(2), &random)
  }
}
