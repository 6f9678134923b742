import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// The cases of the predicate grammar that stand apart from a suite of objects.
extension ConformanceRun {
  func runPredicates(_ document: JSONValue, into report: inout FileReport) throws {
    for suite in document["suites"]?.array ?? [] { try run(suite, text: "format", into: &report) }
    for item in document["evaluate"]?.array ?? [] { report.add(title("evaluate", item), evaluate(item)) }
    for item in document["roundtrip"]?.array ?? [] { report.add(title("roundtrip", item), PredicateText.roundTrip(item)) }
    for item in document["synonyms"]?.array ?? [] { report.add(title("synonyms", item), PredicateText.synonyms(item)) }
    for item in document["syntax"]?.array ?? [] { report.add(title("syntax", item), PredicateText.syntax(item)) }
    for item in document["errors"]?.array ?? [] { report.add(title("errors", item), error(item)) }
    for item in document["equality"]?.array ?? [] { report.add(title("equality", item), PredicateText.equality(item)) }
  }

  private func title(_ part: String, _ item: JSONValue) -> String {
    let text = item["format"] ?? item["canonical"] ?? item["left"] ?? item["compound"]
    return "\(part): \(text?.string ?? "?")" + (item["args"].map { " with \($0)" } ?? "")
  }

  /// A condition asked of one object, or of each element of a list.
  private func evaluate(_ item: JSONValue) -> CaseResult {
    do {
      if let elements = item["filter"]?.array {
        let expected = item["expect"]?.array ?? []
        let passing = try matching(item, elements).map { elements[$0] }
        return .check(passing == expected, expected: "\(expected)", got: "\(passing)")
      }
      let holds = try !matching(item, [item["object"] ?? .object([])]).isEmpty
      return .check(holds == item["expect"]?.bool, expected: "\(item["expect"] ?? .null)", got: "\(holds)")
    } catch let error as Inexpressible {
      return .unreadable(error)
    } catch {
      return .failed(expected: "\(item["expect"] ?? .null)", got: "\(error)")
    }
  }

  /// The positions of the objects that pass. A dictionary reads a missing key as null: names that the objects do not
  /// have are added as properties without values.
  private func matching(_ item: JSONValue, _ elements: [JSONValue]) throws -> [Int] {
    let text = item["format"]?.string ?? ""
    var objects = PlainObjects()
    for element in elements { try objects.add(element) }
    for _ in 0..<20 {
      let store = try store(try CaseSchema(objects.schema, meta: nil), objects.rows)
      defer { store.engine.close() }
      let reading = try store.engine.beginRead()
      defer { reading.end() }
      do throws(QueryError) {
        let condition = try condition(item, text)
        let bound = try BoundQuery(Query(type: PlainObjects.root, condition: condition), in: store.catalog)
        do throws(StorageError) {
          return try bound.keys(in: reading).map { store.rows[PlainObjects.root]?[$0] ?? -1 }
        } catch { throw QueryError(.storage, "\(error)") }
      } catch {
        guard error.code == .unknownProperty, let path = error.path, item["filter"] != nil, objects.addMissing(path) else {
          throw error
        }
      }
    }
    throw Inexpressible("too many names that no object has")
  }

  private func condition(_ item: JSONValue, _ text: String) throws(QueryError) -> PredicateNode {
    switch item["compound"]?.string {
    case "and": return .and([])
    case "or": return .or([])
    default: return try PredicateNode(parsing: text, arguments: PredicateText.arguments(item))
    }
  }

  /// A mistake that must be found when the condition is read or bound.
  private func error(_ item: JSONValue) -> CaseResult {
    let isAllowed = item["superset_may_accept"]?.bool ?? false
    let expected = item["expect"]?.string ?? "an error"
    do {
      let store: CaseStore
      if let properties = item["schema"] {
        let own = JSONValue.object(
          (properties.members ?? []).map { member in
            .init(name: member.name, value: .string((member.value.string ?? "").replacingSelf))
          } + [.init(name: "unused", value: .string("int?"))])
        store = try self.store(try CaseSchema(.object([.init(name: PlainObjects.root, value: own)]), meta: nil), .object([]))
      } else {
        var objects = PlainObjects()
        try objects.add(item["object"] ?? .object([]))
        store = try self.store(try CaseSchema(objects.schema, meta: nil), objects.rows)
      }
      defer { store.engine.close() }
      do throws(QueryError) {
        let condition = try PredicateNode(parsing: item["format"]?.string ?? "", arguments: PredicateText.arguments(item))
        _ = try BoundQuery(Query(type: PlainObjects.root, condition: condition), in: store.catalog)
        return .check(isAllowed, expected: expected, got: "it was accepted")
      } catch {
        return .passed
      }
    } catch { return .unreadable(error) }
  }
}

extension String {
  /// `list<link:Self>` as a type of the store.
  fileprivate var replacingSelf: String {
    split(separator: "Self", omittingEmptySubsequences: false).joined(separator: PlainObjects.root)
  }
}
