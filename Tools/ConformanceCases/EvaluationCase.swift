import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// One question put to a store.
struct EvaluationCase {
  private let json: JSONValue
  private let text: String
  private let store: CaseStore

  init(_ json: JSONValue, text: String, store: CaseStore) {
    self.json = json
    self.text = json[text]?.string ?? ""
    self.store = store
  }

  func result(_ reading: any StorageReading) -> CaseResult {
    let type = json["on"]?.string ?? ""
    let wantsError = json["error"]?.bool ?? false
    let arguments: [QueryArgument]
    do { arguments = try self.arguments() } catch { return .unreadable(error) }
    do throws(QueryError) {
      let query = try Query(type: type, parsing: text, arguments: arguments).resolving(aliases, in: store.catalog)
      let bound = try BoundQuery(query, in: store.catalog)
      let keys: [Int64]
      let count: Int
      do throws(StorageError) {
        keys = try bound.keys(in: reading)
        count = try bound.count(in: reading)
      } catch { return .failed(expected: expectation, got: "the storage failed: \(error)") }
      if wantsError {
        // What the reference merely does not have is no mistake.
        if json["note"]?.string == "reference limitation" { return .passed }
        return .failed(expected: expectation, got: "\(keys.count) objects")
      }
      if count != keys.count { return .failed(expected: "a count of \(keys.count)", got: "\(count)") }
      return compare(keys.map { store.rows[type]?[$0] ?? -1 })
    } catch {
      return .check(wantsError && isOfTheKind(error.code), expected: expectation, got: "\(error)")
    }
  }

  /// Whether an error says what the recorded kind says; any does where none is recorded.
  private func isOfTheKind(_ code: QueryError.Code) -> Bool {
    guard let kind = json["error_kind"]?.string else { return true }
    return EvaluationCase.codes[kind]?.contains(code) == true
  }

  /// What each recorded kind of error is called here. More than one where the grammar here finds the mistake earlier (a
  /// quantifier before what can be no collection), or says more exactly what is wrong (the operator stands behind one value).
  private static let codes: [String: Set<QueryError.Code>] = [
    "syntax": [.syntax],
    // `$age` is a name without a value here.
    "unknown-property": [.unknownProperty, .missingArgument],
    "missing-argument": [.missingArgument],
    "type-mismatch": [.typeMismatch, .badOperator],
    "bad-aggregate": [.badOperator, .typeMismatch, .needsCollection, .unknownProperty],
    "quantifier-needs-collection": [.needsCollection, .syntax],
    "null-vs-collection": [.typeMismatch],
  ]

  private var aliases: QueryAliases {
    var aliases = QueryAliases()
    for alias in json["aliases"]?.array ?? [] {
      let parts = (alias.array ?? []).compactMap(\.string)
      if parts.count == 3 { aliases.add(parts[1], for: PropertyPath(parts[2]), in: parts[0]) }
    }
    for alias in json["type_aliases"]?.array ?? [] {
      let parts = (alias.array ?? []).compactMap(\.string)
      if parts.count == 2 { aliases.add(typeAlias: parts[0], for: parts[1]) }
    }
    return aliases
  }

  private var expectation: String {
    if json["error"]?.bool == true { return "an error" + (json["error_kind"]?.string.map { " (\($0))" } ?? "") }
    if let ids = json["expect_ids"]?.ints { return "\(ids)" }
    return "\(json["expect_count"] ?? .null) objects"
  }

  private func compare(_ rows: [Int]) -> CaseResult {
    if let expected = json["expect_ids"]?.ints {
      let isSame = json["ordered"]?.bool == true ? rows == expected : rows.sorted() == expected.sorted()
      return .check(isSame, expected: expectation, got: "\(rows)")
    }
    return .check(rows.count == json["expect_count"]?.int, expected: expectation, got: "\(rows.count): \(rows)")
  }

  private func arguments() throws -> [QueryArgument] { try (json["args"]?.array ?? []).map { try Arguments.argument($0, store) } }
}

/// What is put into `%@`, `%K` and `$0`.
enum Arguments {
  static func argument(_ json: JSONValue, _ store: CaseStore?) throws -> QueryArgument {
    if let elements = json["$list"]?.array ?? json.array { return .list(try elements.map { try node($0, store) }).simplified }
    if let link = json["$link"], let store {
      let object = try store.object(link)
      return .object(ObjectLiteral(type: object.type, .key(object.key)))
    }
    return .value(
      try CaseValue.value(json, as: nil) { link in
        guard let store else { throw Inexpressible("a link \(link)") }
        return .link(try store.object(link).key)
      })
  }

  private static func node(_ json: JSONValue, _ store: CaseStore?) throws -> ExpressionNode {
    switch try argument(json, store) {
    case .value(let value): return .constant(value)
    case .object(let object): return .object(object)
    default: throw Inexpressible("a list in a list")
    }
  }
}

extension QueryArgument {
  /// A list of nothing but values as such.
  fileprivate var simplified: QueryArgument {
    guard case .list(let nodes) = self else { return self }
    let values = nodes.compactMap { if case .constant(let value) = $0 { value } else { nil } }
    return values.count == nodes.count ? .values(values) : self
  }
}
