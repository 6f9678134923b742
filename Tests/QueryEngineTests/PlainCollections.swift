import QueryModel
import StorageInterface
import StoreValues

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

  func keys(_ query: Query) -> [Int64] {
    var keys = sorted(keys(query.condition), query.sort)
    if let limit = query.limit { keys = Array(keys.prefix(limit)) }
    for clause in query.clauses {
      switch clause {
      case .sort(let sort): keys = sorted(keys, sort)
      case .limit(let count): keys = Array(keys.prefix(count))
      case .offset(let count): keys = Array(keys.dropFirst(count))
      case .distinct(let paths):
        var kept: [(key: Int64, values: [Value])] = []
        for key in keys {
          let values = paths.map { single($0, key) }
          guard values.allSatisfy({ $0 != nil }) else { continue }
          let known = values.compactMap(\.self)
          let isNew = !kept.contains { other in zip(other.values, known).allSatisfy { $0.order(to: $1) == .same } }
          if isNew { kept.append((key, known)) }
        }
        keys = kept.map(\.key)
      }
    }
    return keys
  }

  private func sorted(_ keys: [Int64], _ sort: [SortKey]) -> [Int64] {
    let rows = keys.enumerated().map { place, key in (place: place, key: key, values: sort.map { single($0.path, key) }) }
    return rows.sorted { a, b in
      for (i, key) in sort.enumerated() {
        let order = order(a.values[i], b.values[i])
        if order != .same { return (order == .before) == key.ascending }
      }
      return a.place < b.place
    }.map(\.key)
  }

  /// What a null link keeps from having a value comes after all values; lists and maps are the same among themselves.
  private func order(_ a: Value?, _ b: Value?) -> Value.Order {
    guard let a, let b else { return a == nil ? (b == nil ? .same : .after) : .before }
    switch (a, b) {
    case (.list, .list), (.map, .map): return .same
    default: return a.order(to: b)
    }
  }

  /// The one value of a path; nil behind a null link.
  private func single(_ path: PropertyPath, _ key: Int64) -> Value? {
    var here = PropertyPath([])
    if path.components.first == "@links" { return self.path(path, "SELF", ["SELF": key]).groups.first?.first ?? .null }
    for component in path.components.dropLast() {
      here.components.append(component)
      let isLink = ["next", "addr"].contains(component) || here.components.suffix(2).first == "named" && component.hasPrefix("[")
      if isLink, paths.find(here, from: key).groups.first?.first.map(\.isNull) ?? true { return nil }
    }
    return self.path(path, "SELF", ["SELF": key]).groups.first?.first ?? .null
  }

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
    /// Written in the condition: a null of these is below nothing.
    var isWritten = false
    /// The values are names of types.
    var isTypeName = false
    var folding: Folding?
  }

  private func operand(_ node: ExpressionNode, _ own: String, _ scope: Scope) -> Operand {
    switch node {
    case .constant(let value):
      var result = Operand(groups: [[value]], isMany: false, isWritten: true)
      if case .string = value { result.isText = true }
      return result
    case .constants(let values):
      let isText = values.allSatisfy { if case .string = $0 { true } else { $0.isNull } }
      return Operand(groups: [values], isMany: true, isText: isText, isWritten: true)
    case .folded(let inner, let folding):
      var result = operand(inner, own, scope)
      result.folding = folding
      return result
    case .object(let object):
      guard case .key(let key) = object.identity, let table = world.catalog[object.type]?.id else { return Operand(groups: [], isMany: false) }
      return Operand(groups: [[.object(ObjectLink(table, key))]], isMany: false)
    case .mixed(let mixed): return Operand(groups: [[mixed.value]], isMany: false, isWritten: true)
    case .list(let nodes): return Operand(groups: [nodes.flatMap { operand($0, own, scope).groups.flatMap(\.self) }], isMany: true)
    case .quantified(let quantifier, let inner):
      var result = operand(inner, own, scope)
      result.quantifier = quantifier
      return result
    case .path(let path): return self.path(path, own, scope)
    case .arithmetic(let sign, let a, let b):
      let (left, right) = (operand(a, own, scope), operand(b, own, scope))
      let groups = left.groups.flatMap { l in
        right.groups.map { r in l.flatMap { x in r.map { y in PlainArithmetic.result(sign, x, y) } } }
      }
      return Operand(groups: groups, isMany: left.isMany || right.isMany)
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
    if components.last == "@type" || components.last == "length" {
      let found = paths.find(PropertyPath(Array(components.dropLast())), from: key)
      if components.last == "@type" {
        return Operand(groups: found.groups.map { $0.map { .string(kind($0)) } }, isMany: found.isMany, isTypeName: true)
      }
      return Operand(groups: found.groups.map { $0.map { .int(length($0)) } }, isMany: found.isMany)
    }
    guard let at = components.firstIndex(where: { ["@count", "@sum", "@min", "@max", "@avg"].contains($0) }) else {
      let found = paths.find(PropertyPath(components), from: key)
      let end = components.last { !$0.hasPrefix("[") }
      let isMixed = components.contains { ["x", "mixes", "mm"].contains($0) }
      let isText = end == "@keys" || !isMixed && ["s", "tags", "city"].contains(end)
      return Operand(groups: found.groups, isMany: found.isMany, isText: isText)
    }
    let aggregate = components.remove(at: at)
    let isReal = components.last == "d" || components.last == "scores"
    let found = paths.find(PropertyPath(components), from: key)
    // Of a collection behind many owners there is one result for each owner.
    if components.first == "@links" || components.contains("@links") {
      return Operand(groups: [[total(aggregate, found.groups.flatMap(\.self), isReal: isReal)]], isMany: false)
    }
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
      return Operand(groups: [found.groups.map { total(aggregate, $0, isReal: isReal) }], isMany: true)
    }
    var values = found.groups.flatMap(\.self)
    if aggregate == "@count", relationships.contains(components.last ?? "") { values.removeAll(where: \.isNull) }
    return Operand(groups: [[total(aggregate, values, isReal: isReal)]], isMany: false)
  }

  private func kind(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .double: "double"
    case .decimal: "decimal"
    case .string: "string"
    case .list: "list"
    case .map: "object"
    default: "link"
    }
  }

  private func length(_ value: Value) -> Int64 { if case .string(let text) = value { Int64(text.utf8.count) } else { 0 } }

  private func isOfType(_ kind: Value, _ name: Value) -> Bool {
    switch name {
    case .string("numeric"): [.string("int"), .string("double"), .string("decimal")].contains(kind)
    case .string("collection"): [.string("list"), .string("object")].contains(kind)
    default: kind == name
    }
  }

  private func total(_ aggregate: String, _ values: [Value], isReal: Bool) -> Value {
    if aggregate == "@count" { return .int(Int64(values.count)) }
    let known = values.filter { !$0.isNull }
    switch aggregate {
    case "@min", "@max":
      let ordered = known.filter { !isNaN($0) }.sorted { $0.order(to: $1) == .before }
      return (aggregate == "@min" ? ordered.first : ordered.last) ?? .null
    default:
      let sum = known.reduce(0.0) { $0 + number($1) }
      // The few small integers of these worlds add up to one: dividing by it divides integers.
      if aggregate == "@sum" { return isReal ? .double(sum) : .int(Int64(sum)) }
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

  private func holds(_ comparison: Comparison, _ own: String, _ scope: Scope) -> Bool {
    let (left, right) = (operand(comparison.left, own, scope), operand(comparison.right, own, scope))
    if comparison.comparator == .in, !left.isMany, !right.isMany, left.isText, right.isText, left.quantifier == nil, right.quantifier == nil {
      return right.groups[0].contains { whole in left.groups[0].contains { compare(whole, .contains, $0, false, nil) } }
    }
    let (ls, rs) = (left.groups.isEmpty ? [[]] : left.groups, right.groups.isEmpty ? [[]] : right.groups)
    return ls.contains { l in rs.contains { r in holds(l, left, comparison.comparator, r, right) } }
  }

  private func holds(_ l: [Value], _ left: Operand, _ comparator: ComparisonOperator, _ r: [Value], _ right: Operand) -> Bool {
    func one(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
      if left.isTypeName { return isOfType(a, b) == (comparator != .notEqual) }
      let isWritten = (left.isWritten && a.isNull) || (right.isWritten && b.isNull)
      return compare(a, comparator, b, left.isText && right.isText && !isWritten, left.folding ?? right.folding)
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

  private func compare(_ a: Value, _ comparator: ComparisonOperator, _ b: Value, _ ordersNull: Bool, _ folding: Folding?) -> Bool {
    switch comparator {
    case .equal, .in, .like, .matches:
      if a.isNull || b.isNull { return a.isNull && b.isNull }
      if case .string(let x) = a, case .string(let y) = b { return PlainText.holds(x, comparator, y, folding) }
      if comparator == .like || comparator == .matches { return false }
      return !isNaN(a) && !isNaN(b) && a.order(to: b) == .same
    case .notEqual: return !compare(a, .equal, b, ordersNull, folding)
    case .less:
      if a.isNull || b.isNull { return ordersNull && a.isNull && !b.isNull }
      if case .string(let x) = a, case .string(let y) = b { return PlainText.holds(x, comparator, y, folding) }
      return !isNaN(a) && !isNaN(b) && a.kindRank == b.kindRank && a.order(to: b) == .before
    case .greater: return compare(b, .less, a, ordersNull, folding)
    case .lessOrEqual: return compare(a, .less, b, ordersNull, folding) || compare(a, .equal, b, ordersNull, folding)
    case .greaterOrEqual: return compare(b, .less, a, ordersNull, folding) || compare(a, .equal, b, ordersNull, folding)
    case .contains, .beginsWith, .endsWith, .text:
      guard case .string(let x) = a, case .string(let y) = b else { return false }
      return PlainText.holds(x, comparator, y, folding)
    case .between: return false
    }
  }

  private func isNaN(_ value: Value) -> Bool { if case .double(let x) = value { x.isNaN } else { false } }
}
