import QueryEngine
import QueryModel
import StoreValues

/// Whether the grammar accepts a text.
enum SyntaxCase {
  static func result(_ json: JSONValue) -> CaseResult {
    let text = json["query"]?.string ?? json["format"]?.string ?? ""
    let isValid = json["valid"]?.bool ?? false
    // Texts may ask for arguments; what they are does not matter to the grammar.
    let arguments = Array(repeating: QueryArgument.path(PropertyPath("a")), count: 200)
    do throws(QueryError) {
      _ = try Query(type: "", parsing: text, arguments: arguments)
      return .check(isValid, expected: "an error", got: "it was accepted")
    } catch {
      // What is part of the grammar and not of the engine is no mistake of grammar.
      let isGrammar = error.code == .syntax
      return .check(isGrammar != isValid, expected: isValid ? "accepted" : "a mistake of grammar", got: "\(error)")
    }
  }
}
