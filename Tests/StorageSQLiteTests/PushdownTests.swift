import Foundation
import QueryModel
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// What is pushed down gives exactly what the definition of queries gives, or stays with the caller.
@Suite struct PushdownTests {
  @Test func randomConditionsAndOrdersGiveWhatTheDefinitionGives() throws {
    var random = SeededGenerator.forTest()
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 0..<200 {
        var values: [String: Value] = ["id": .int(Int64(id))]
        for column in table.columns where column.schema.isScalar && column.schema.name != "id" {
          guard let type = column.schema.valueType, type != .link else { continue }
          values[column.schema.name] = constant(type, optional: column.schema.isOptional, &random)
        }
        // Some have an alias or a pair that is taken already, and are not added.
        _ = try? write.insert(table, values)
      }
    }
    let read = try #require(try engine.beginRead().powers.pushdown)
    let all = try objects(read, table)
    #expect(all.count > 10)
    var wholeCount = 0
    for _ in 0..<environmentNumber("VIVARIUM_ROUNDS", default: 400) {
      let query = Query(
        type: "Thing", condition: condition(table, depth: 2, &random),
        sort: random.oneIn(2) ? [] : (0...1).map { _ in SortKey(PropertyPath([name(table, &random)]), ascending: random.oneIn(2)) },
        limit: random.oneIn(2) ? nil : random.below(20))
      guard let pushed = try read.pushdown(query) else { continue }
      var found: [Int64] = []
      try read.keys(pushed) { found += $0; return .proceed }
      #expect(try read.count(pushed) == found.count)
      let isWhole = pushed.residual == .constant(true)
      wholeCount += isWhole ? 1 : 0
      #expect(isWhole || !pushed.appliesLimit)
      var expected = all.filter { holds(query.condition, $0) }
      if !isWhole {
        let left = Set(found)
        #expect(expected.allSatisfy { left.contains($0.key) }, "\(pushed.statement)")
        expected = all.filter { left.contains($0.key) && holds(pushed.residual, $0) == holds(query.condition, $0) }
        #expect(expected.count == found.count, "\(pushed.statement)")
        continue
      }
      if pushed.ordersResult { expected.sort { precedes($0, $1, query.sort) } }
      if pushed.appliesLimit, let limit = query.limit { expected = Array(expected.prefix(limit)) }
      #expect(found == expected.map(\.key), "\(query) \(pushed.statement)")
    }
    #expect(wholeCount > 50)
  }

  @Test func conditionsThatAreNestedDeepAreAnsweredOrStayWithTheCaller() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    let read = try #require(try engine.beginRead().powers.pushdown)
    func more(_ number: Int) -> PredicateNode {
      .comparison(Comparison(.path(PropertyPath(["id"])), .greater, .constant(.int(Int64(number)))))
    }
    var nodes = [more(0), more(0), more(0)]
    var pushedCount = 0
    for depth in 1...100 {
      nodes[0] = depth % 2 == 0 ? .and([more(depth), nodes[0]]) : .or([more(depth), nodes[0]])
      nodes[1] = .not(depth % 2 == 0 ? .and([more(depth), nodes[1]]) : .or([more(depth), nodes[1]]))
      nodes[2] = .or([.not(.and([nodes[2], more(depth)])), more(depth)])
      for node in nodes {
        guard let pushed = try read.pushdown(Query(type: "Thing", condition: node)) else { continue }
        if pushed.residual == .constant(true) { pushedCount += 1 }
        try read.keys(pushed) { _ in .proceed }
      }
    }
    #expect(pushedCount > 20)
  }

  @Test func whatIsNotExactStaysWithTheCaller() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    let read = try #require(try engine.beginRead().powers.pushdown)
    func residual(_ node: PredicateNode) throws -> PredicateNode? {
      try read.pushdown(Query(type: "Thing", condition: .and([test("id", .greater, .int(0)), node])))?.residual
    }
    for node in [
      test("name", .endsWith, .string("a")), test("best.name", .equal, .string("a")), test("ratio", .equal, .double(.nan)),
      test("name", .equal, .int(1)), test("alias", .less, .null), test("words", .equal, .string("a")),
      .comparison(Comparison(.path(PropertyPath("id")), .equal, .path(PropertyPath("small")))),
    ] { #expect(try residual(node) == node) }
    #expect(try read.pushdown(Query(type: "Thing")) == nil)
    #expect(try read.pushdown(Query(type: "Nothing", condition: .constant(false))) == nil)
  }

  @Test func conditionsOnIndexedColumnsUseTheIndex() throws {
    let place = Place()
    let engine = try place.open()
    try engine.adopt(.everything)
    let read = try #require(try engine.beginRead().powers.pushdown)
    for node in [
      test("id", .equal, .int(1)), test("ratio", .greater, .double(1)), test("ratio", .equal, .int(0)),
      test("name", .beginsWith, .string("a")), test("uuid", .equal, .uuid(UUID())),
    ] {
      let pushed = try #require(try read.pushdown(Query(type: "Thing", condition: node)))
      let plan = try SQLiteEngine.plan(of: pushed.statement, in: read)
      #expect(plan.contains { $0.hasPrefix("SEARCH") }, "\(pushed.statement) \(plan)")
    }
  }

  // MARK: The definition

  private struct Object {
    let key: Int64
    let values: [String: Value]
  }

  private func holds(_ node: PredicateNode, _ object: Object) -> Bool {
    switch node {
    case .constant(let value): return value
    case .and(let parts): return parts.allSatisfy { holds($0, object) }
    case .or(let parts): return parts.contains { holds($0, object) }
    case .not(let part): return !holds(part, object)
    case .comparison(let comparison):
      guard case .path(let path) = comparison.left else { return false }
      let value = object.values[path.description] ?? .null
      switch comparison.right {
      case .constant(let other): return holds(value, comparison.comparator, other)
      case .constants(let others):
        if comparison.comparator == .in { return others.contains { holds(value, .equal, $0) } }
        return holds(value, .greaterOrEqual, others[0]) && holds(value, .lessOrEqual, others[1])
      default: return false
      }
    }
  }

  private func holds(_ a: Value, _ comparator: ComparisonOperator, _ b: Value) -> Bool {
    func isNaN(_ value: Value) -> Bool {
      switch value {
      case .double(let x): x.isNaN
      case .float(let x): x.isNaN
      case .date(let x): x.isNaN
      default: false
      }
    }
    func equal(_ a: Value, _ b: Value) -> Bool {
      if a.isNull || b.isNull { return a.isNull && b.isNull }
      return !isNaN(a) && !isNaN(b) && a.order(to: b) == .same
    }
    func less(_ a: Value, _ b: Value) -> Bool {
      if b.isNull { return false }
      if a.isNull { if case .string = b { return true } else { return false } }
      return !isNaN(a) && !isNaN(b) && a.order(to: b) == .before
    }
    func text(_ value: Value) -> [UInt8]? { if case .string(let text) = value { Array(text.utf8) } else { nil } }
    switch comparator {
    case .equal: return equal(a, b)
    case .notEqual: return !equal(a, b)
    case .less: return less(a, b)
    case .lessOrEqual: return less(a, b) || equal(a, b)
    case .greater: return less(b, a)
    case .greaterOrEqual: return less(b, a) || equal(a, b)
    case .beginsWith: return text(a).flatMap { a in text(b).map { a.starts(with: $0) } } ?? false
    case .contains:
      guard let a = text(a), let b = text(b) else { return false }
      return b.isEmpty || (0...max(0, a.count - b.count)).contains { a.dropFirst($0).starts(with: b) }
    default: return false
    }
  }

  private func precedes(_ a: Object, _ b: Object, _ keys: [SortKey]) -> Bool {
    for key in keys {
      let name = key.path.description
      let order = (a.values[name] ?? .null).order(to: b.values[name] ?? .null)
      if order != .same { return (order == .before) == key.ascending }
    }
    return a.key < b.key
  }

  // MARK: Random questions

  private func objects(_ read: any StorageReading, _ table: TableEntry) throws -> [Object] {
    let columns = table.columns.filter { $0.schema.isScalar }
    var result: [Object] = []
    try read.scan(table.id, columns.map(\.id), from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count {
        var values: [String: Value] = [:]
        for (column, vector) in zip(columns, batch.columns) {
          values[column.schema.name] = vector.value(at: row, as: column.schema.valueType ?? .link)
        }
        result.append(Object(key: batch.key(at: row).rawValue, values: values))
      }
      return .proceed
    }
    return result
  }

  private func test(_ name: String, _ comparator: ComparisonOperator, _ value: Value) -> PredicateNode {
    .comparison(Comparison(.path(PropertyPath(name)), comparator, .constant(value)))
  }

  private func name(_ table: TableEntry, _ random: inout SeededGenerator) -> String {
    let names = table.columns.filter { $0.schema.isScalar }.map(\.schema.name)
    return names.randomElement(using: &random) ?? "id"
  }

  private func condition(_ table: TableEntry, depth: Int, _ random: inout SeededGenerator) -> PredicateNode {
    if depth > 0, random.oneIn(2) {
      let parts = (0..<random.below(4)).map { _ in condition(table, depth: depth - 1, &random) }
      switch random.below(3) {
      case 0: return .and(parts)
      case 1: return .or(parts)
      default: return .not(condition(table, depth: depth - 1, &random))
      }
    }
    let property = name(table, &random)
    let type = table[property]?.schema.valueType ?? .int64
    func value() -> Value { constant(type, optional: true, &random) }
    let path = ExpressionNode.path(PropertyPath([property]))
    let all: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .in, .between, .beginsWith, .contains]
    // Null against an order is for the caller, and its meaning for strings is not asked here.
    switch all.randomElement(using: &random) ?? .equal {
    case .in: return .comparison(Comparison(path, .in, .constants((0..<random.below(4)).map { _ in value() })))
    case .between:
      let bounds = [constant(type, optional: false, &random), constant(type, optional: false, &random)]
      return .comparison(Comparison(path, .between, .constants(bounds)))
    case let comparator: return .comparison(Comparison(path, comparator, .constant(value())))
    }
  }

  private func constant(_ type: ValueType, optional: Bool, _ random: inout SeededGenerator) -> Value {
    if optional, random.oneIn(5) { return .null }
    let doubles: [Double] = [0, -0.0, .nan, .infinity, -.infinity, 1, -1.5, 0.1, 2, 1e300]
    switch type {
    case .bool: return .bool(random.oneIn(2))
    case .int8, .int16, .int32, .int64: return .int(Int64(random.below(9) - 4))
    case .float: return .float(Float(doubles.randomElement(using: &random) ?? 0))
    case .double: return .double(doubles.randomElement(using: &random) ?? 0)
    case .date: return .date(TimestampSamples.any(&random))
    case .string:
      return .string(["", "a", "ab", "a\0b", "b", "é", "e\u{301}", "\u{D7FF}", "\u{10FFFF}", "a\u{10FFFF}"].randomElement(using: &random) ?? "")
    case .data: return .data([Data(), Data([0]), Data([0, 255, 1])].randomElement(using: &random) ?? Data())
    case .uuid: return .uuid(UUID(uuid: (UInt8(random.below(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
    case .objectId, .decimal, .mixed: return RandomMixed.value(type, &random)
    case .link: return .link(ObjectKey(Int64(random.below(9))))
    }
  }
}
