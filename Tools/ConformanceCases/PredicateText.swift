import QueryEngine
import QueryModel
import StorageInterface
import StoreValues

/// Cases about the text of conditions alone.
enum PredicateText {
  static func arguments(_ item: JSONValue) -> [QueryArgument] {
    (item["args"]?.array ?? []).map { json in
      (try? Arguments.argument(json, nil)) ?? .value(.string("\(json)"))
    }
  }

  static func roundTrip(_ item: JSONValue) -> CaseResult {
    let text = item["format"]?.string ?? ""
    do throws(QueryError) {
      let node = try PredicateNode(parsing: text, arguments: arguments(item))
      let again = try PredicateNode(parsing: node.description)
      if again != node { return .failed(expected: "\(node)", got: "\(again)") }
      if let written = item["written"]?.string {
        let other = try PredicateNode(parsing: written)
        if other.description != unescaped(node.description), other != node {
          return .failed(expected: "the same as \(written)", got: "\(node)")
        }
      }
      if let after = item["after_substitution"] {
        let variables = Dictionary(
          uniqueKeysWithValues: (after["variables"]?.members ?? []).map { ($0.name, Value.string($0.value.string ?? "")) })
        let replaced = node.substituting(variables)
        let other = try PredicateNode(parsing: after["written"]?.string ?? "")
        if other.description != unescaped(replaced.description) {
          return .failed(expected: "the same as \(other)", got: "\(replaced)")
        }
      }
      guard case .comparison(let comparison) = node else { return .passed }
      if let sign = item["operator"]?.string, comparison.comparator.rawValue != sign {
        return .failed(expected: sign, got: comparison.comparator.rawValue)
      }
      if let right = item["right"]?.string, comparison.right != .constant(.string(right)) {
        return .failed(expected: right, got: "\(comparison.right)")
      }
      if let expected = item["reparse_evaluates"]?.bool {
        let holds = try again.constantValue
        return .check(holds == expected, expected: "\(expected)", got: "\(holds.map { "\($0)" } ?? "no constant")")
      }
      return .passed
    } catch {
      return .failed(expected: "a text that reads as itself", got: "\(error)")
    }
  }

  /// Names that could be taken for something else are marked in our text.
  private static func unescaped(_ text: String) -> String { text.split(separator: "#", omittingEmptySubsequences: false).joined() }

  /// Spellings of one meaning. Those that are only one side of a comparison get the other.
  static func synonyms(_ item: JSONValue) -> CaseResult {
    let spellings = (item["spellings"]?.array ?? []).compactMap(\.string)
    var canonical = item["canonical"]?.string ?? ""
    if canonical.contains("(a key") { canonical = spellings.first ?? "" }
    var first: PredicateNode?
    for spelling in [canonical] + spellings {
      do throws(QueryError) {
        let node = try condition(spelling)
        if let first, node.withoutNone != first.withoutNone {
          return .failed(expected: "\(spelling) the same as \(canonical)", got: "\(node)")
        }
        if first == nil { first = node }
      } catch { return .failed(expected: "\(spelling) accepted", got: "\(error)") }
    }
    return .passed
  }

  private static func condition(_ text: String) throws(QueryError) -> PredicateNode {
    do throws(QueryError) { return try PredicateNode(parsing: text) } catch {
      if let completed = try? PredicateNode(parsing: text + " == 1") { return completed }
      throw error
    }
  }

  static func syntax(_ item: JSONValue) -> CaseResult {
    let isValid = item["valid"]?.bool ?? false
    do throws(QueryError) {
      let node = try PredicateNode(parsing: item["format"]?.string ?? "")
      if !isValid { return .failed(expected: "a mistake of grammar", got: "\(node)") }
      guard let value = item["value"]?.bool else { return .passed }
      guard case .comparison(let comparison) = node, case .constant(let constant) = comparison.right else {
        return .failed(expected: "a comparison with a constant", got: "\(node)")
      }
      return .check(
        constant == .bool(value) || constant == .int(value ? 1 : 0), expected: "\(value)", got: "\(constant)")
    } catch {
      return .check(!isValid, expected: "accepted", got: "\(error)")
    }
  }

  static func equality(_ item: JSONValue) -> CaseResult {
    do throws(QueryError) {
      let left = try PredicateNode(parsing: item["left"]?.string ?? "")
      let right = try PredicateNode(parsing: item["right"]?.string ?? "")
      return .check(
        (left == right) == item["equal"]?.bool, expected: "\(item["equal"] ?? .null)", got: "\(left == right)")
    } catch {
      return .failed(expected: "two conditions", got: "\(error)")
    }
  }
}

extension PredicateNode {
  /// NONE written as the negation of ANY that it is.
  fileprivate var withoutNone: PredicateNode {
    switch self {
    case .comparison(var comparison):
      guard case .quantified(.none, let inner) = comparison.left else { return self }
      comparison.left = .quantified(.any, inner)
      return .not(.comparison(comparison))
    case .not(let inner): return .not(inner.withoutNone)
    case .and(let parts): return .and(parts.map(\.withoutNone))
    case .or(let parts): return .or(parts.map(\.withoutNone))
    case .constant: return self
    }
  }

  /// What a condition without properties comes to.
  fileprivate var constantValue: Bool? {
    get throws(QueryError) {
      let schema = Schema([ObjectSchema(name: "A", properties: [PropertySchema(name: "a", kind: .scalar(.bool))])])
      guard let catalog = try? Catalog().adopting(schema).catalog else { return nil }
      return try BoundQuery(Query(type: "A", condition: self), in: catalog).constantCondition
    }
  }
}
