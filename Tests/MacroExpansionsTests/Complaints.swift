import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import MacroExpansions

/// A diagnostic as a programmer meets it: where, what, and what its fix-it makes of the source.
struct Met: Equatable {
  var message: String
  /// The source from the place on, to the end of its line.
  var place: String
  var fixIt: String?
  var fixed: String?
}

/// Everything `@Model`, or `@ValueModel`, says about the first declaration of a source.
func complaints(about source: String) -> [Met] {
  let file = Parser.parse(source: source)
  let context = BasicMacroExpansionContext(
    sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "test.swift")])
  guard let declaration = file.statements.first?.item.asProtocol((any DeclGroupSyntax).self) else { return [] }
  if source.hasPrefix("@ValueModel") {
    _ = ValueModelExpansion.expansion(of: "@ValueModel", providingMembersOf: declaration, conformingTo: [], in: context)
  } else {
    _ = ModelExpansion.expansion(of: "@Model", providingMembersOf: declaration, conformingTo: [], in: context)
  }
  let bytes = Array(source.utf8)
  return context.diagnostics.map { diagnostic in
    let start = diagnostic.node.positionAfterSkippingLeadingTrivia.utf8Offset
    let line = bytes[start...].prefix { $0 != UInt8(ascii: "\n") }
    var met = Met(message: diagnostic.message, place: String(decoding: line, as: UTF8.self))
    if let fixIt = diagnostic.fixIts.first, case .replace(let old, let new)? = fixIt.changes.first {
      met.fixIt = fixIt.message.message
      let range = old.position.utf8Offset..<old.endPosition.utf8Offset
      met.fixed = String(decoding: bytes[..<range.lowerBound] + Array(new.description.utf8) + bytes[range.upperBound...], as: UTF8.self)
    }
    return met
  }
}

/// Checks the one complaint about a property, and that its fix-it gives the property as in `fixed`.
func expectComplaint(
  _ property: String, _ message: String, at place: String? = nil, fixIt: String? = nil, fixed: String? = nil,
  sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
  func model(_ property: String) -> String { "@Model final class M {\n  \(property)\n}" }
  let met = complaints(about: model(property))
  #expect(
    met == [Met(message: message, place: place ?? property, fixIt: fixIt, fixed: fixed.map(model))],
    sourceLocation: sourceLocation)
}
