import QueryModel
import Values

/// The meaning of conditions over collections once more, one object at a time and nothing prepared.
struct PlainCollections {
  let world: CollectionWorld
  private let paths: PlainPaths

  init(_ world: CollectionWorld) {
    self.world = world
    paths = PlainPaths(world: world)
  }

  /// The objects that variables stand for; `SELF` is the one asked about.
  private typealias Scope = [String: Int64]

  func keys(_ condition: PredicateNode) -> [Int64] { world.keys.filter { holds(condition, "SELF", ["SELF": $0]) } }

  /// `own` is the variable of the object that paths without one begin at.
  private func holds(_ node: PredicateNode, _ own: String, _ scope: Scope) -> Bool {
    switch node {
    case .constant(let value): value
    case .not(let inner): !holds(inner, own, scope)
    case .and(let parts): parts.allSatisfy { holds($0, own, scope) }
    case .or(let parts): parts.contains { holds($0, own, scope) }
    case .comparison(let comparison): holds(comparison, own, scope)
    }
  }

  private struct Operand {
    var groups: [[Value]]
    var isMany: Bool
    var quantifier: Quantifier?
    /// Every value is a string, or null.
    var isText = false
    var isWrittenNull = false
  }

  private func operand(_ node: ExpressionNode, _ own: String, _ scope: Scope) -> Operand {
    switch node {
    case .constant(let value):
      var result = Operand(groups: [[value]], isMany: false, isWrittenNull: value.isNull)
      if case .string = value { result.isText = true }
      return result
    case .constants(let values): return Operand(groups: [values], isMany: true)
    case .quantified(let quantifier, let inner):
      var result = operand(inner, own, scope)
      result.quantifier = quantifier
      return result
    case .path(let path): return self.path(path, own, scope)
    case .arithmetic(_, let a, let b):
      let (left, right) = (operand(a, own, scope), operand(b, own, scope))
      let addend = right.groups[0][0]
      return Operand(groups: left.groups.map { $0.map { sum($0, addend) } }, isMany: left.isMany)
    case .subquery(let subquery):
      var count: Int64 = 0
      for value in self.path(subquery.collection, own, scope).groups.flatMap(\.self) {
        guard case .object(let link) = value else { continue }
        var inner = scope
        inner[subquery.variable] = link.key.rawValue
        if holds(subquery.condition, subquery.variable, inner) { count += 1 }
      }
      return Operand(groups: [[.int(count)]], isMany: false)
    default: return Operand(groups: [], isMany: false)
    }
  }

  private func path(_ path: PropertyPath, _ own: String, _ scope: Scope) -> Operand {
    var components = path.components
    var start = own
    if let first = components.first, scope[first] != nil {
      start = first
      components.removeFirst()
    }
    guard let key = scope[start] else { return Operand(groups: [], isMany: false) }
    guard let at = components.firstIndex(where: { ["@count", "@sum", "@min", "@max", "@avg"].contains($0) }) else {
      let found = paths.find(PropertyPath(components), from: key)
      let end = components.last { !$0.hasPrefix("[") }
      let isMixed = components.contains { ["x", "mixes", "mm"].contains($0) }
      let isText = end == "@keys" || !isMixed && ["s", "tags", "city"].contains(end)
      return Operand(groups: found.groups, isMany: found.isMany, isText: isText)
    }
    let aggregate = components.remove(at: at)
    let found = paths.find(PropertyPath(components), from: key)
    // Of a collection behind many owners there is one result for each owner.
    let relationships = ["links", "parts", "named", "by", "addresses"]
    let owners = paths.find(PropertyPath(Array(components.dropLast())), from: key)
    let isPlain = ["nums", "tags", "scores"].contains(components.last)
    if aggregate == "@count", let last = components.last, relationships.contains(last) || last == "next", components.count > 1 {
      let counts = owners.groups.flatMap(\.self).compactMap { owner -> Value? in
        guard case .object(let link) = owner else { return nil }
        let objects = paths.find(PropertyPath([last]), from: link.key.rawValue).groups.flatMap(\.self)
        return .int(Int64(objects.count { !$0.isNull }))
      }
      return Operand(groups: [counts], isMany: owners.isMany)
    }
    if isPlain, owners.isMany, components.count > 1 {
      return Operand(groups: [found.groups.map { total(aggregate, $0) }], isMany: true)
    }
    var values = found.groups.flatMap(\.self)
    if aggregate == "@count", relationships.contains(components.last ?? "") { values.removeAll(where: \.isNull) }
    return Operand(groups: [[total(aggregate, values)]], isMany: false)
  }

  private func total(_ aggregate: String, _ values: [Value]) -> Value {
    if aggregate == "@count" { return .int(Int64(values.count)) }
    let known = values.filter { !$0.isNull }
    switch aggregate {
    case "@min", "@max":
      let ordered = known.filter { !isNaN($0) }.sorted { $0.order(to: $1) == .before }
      return (aggregate == "@min" ? ordered.first : ordered.last) ?? .null
    default:
      let sum = known.reduce(0.0) { $0 + number($1) }
      if aggregate == "@sum" { return .double(sum) }
      return known.isEmpty ? .null : .double(sum / Double(known.count))
    }
  }

  private func number(_ value: Value) -> Double {
    switch value {
    case .int(let x): Double(x)
    case .double(let x): x
    default: .nan
    }
  }

  private func sum(_ a: Value, _ b: Value) -> Value {
    switch (a, b) {
    case (.int(let x), .int(let y)): .int(x &+ y)
    case (.int, .double), (.double, .int), (.double, .double): .double(number(a) + number(b))
    case (.decimal(let x), .int(let y)): .decimal(x + Decimal128(y))
    default: .null
    }
  }

  private func holds(_ comparison: Comparison, _ own: String, _ scope: Scope) -> Bool {
    let (left, right) = (operand(comparison.left, own, scope), operand(comparison.right, own, scope))
    let (ls, rs) = (left.groups.isEmpty ? [[]] : left.groups, right.groups.isEmpty ? [[]] : right.groups)
    return ls.contains { l in rs.contains { r in holds(l, left, comparison.comparator, r, right) } }
  }

  private func holds(_ l: [Value], _ left: Operand, _ comparator: ComparisonOperator, _ r: [Value], _ right: Operand) -> Bool {
    func one(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
      compare(a, comparator, b, left.isText && right.isText && !left.isWrittenNull && !right.isWrittenNull)
    }
    func every(_ quantifier: Quantifier?, _ values: [Value], _ passes: (Value) -> Bool) -> Bool {
      switch quantifier ?? .any {
      case .any: values.contains(where: passes)
      case .all: values.allSatisfy(passes)
      case .none: !values.contains(where: passes)
      }
    }
    if comparator == .between {
      return every(left.quantifier, l) { one($0, .greaterOrEqual, r[0]) } && every(left.quantifier, l) { one($0, .lessOrEqual, r[1]) }
    }
    if left.isMany, right.isMany, right.quantifier == nil {
      if left.quantifier == nil {
        return l.count == r.count ? zip(l, r).allSatisfy { one($0, comparator, $1) } : comparator == .notEqual
      }
      if left.quantifier == .all, comparator == .equal || comparator == .in, l.count > 2, r.count > 2 {
        var rest = r
        return l.allSatisfy { value in
          guard let at = rest.firstIndex(where: { one(value, .equal, $0) }) else { return false }
          rest.remove(at: at)
          return true
        }
      }
    }
    return every(left.quantifier, l) { a in every(right.quantifier, r) { b in one(a, comparator, b) } }
  }

  private func compare(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, _ ordersNull: Bool) -> Bool {
    switch comparator {
    case .equal, .in:
      if a.isNull || b.isNull { return a.isNull && b.isNull }
      return !isNaN(a) && !isNaN(b) && a.order(to: b) == .same
    case .notEqual: return !compare(a, .equal, b, ordersNull)
    case .less:
      if a.isNull || b.isNull { return ordersNull && a.isNull && !b.isNull }
      return !isNaN(a) && !isNaN(b) && a.kindRank == b.kindRank && a.order(to: b) == .before
    case .greater: return compare(b, .less, a, ordersNull)
    case .lessOrEqual: return compare(a, .less, b, ordersNull) || compare(a, .equal, b, ordersNull)
    case .greaterOrEqual: return compare(b, .less, a, ordersNull) || compare(a, .equal, b, ordersNull)
    case .contains, .beginsWith, .endsWith:
      guard case .string(let text) = a, case .string(let part) = b else { return false }
      let (whole, needle) = (Array(text.utf8), Array(part.utf8))
      if needle.count > whole.count { return false }
      return (0...(whole.count - needle.count)).contains { at in
        let fits = comparator == .contains || (comparator == .beginsWith ? at == 0 : at == whole.count - needle.count)
        return fits && Array(whole[at..<at + needle.count]) == needle
      }
    default: return false
    }
  }

  private func isNaN(_ value: Value) -> Bool { if case .double(let x) = value { x.isNaN } else { false } }
}
