import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// An error in a model, reported at its place in the source, with a fix-it if there is one.
struct Complaint: DiagnosticMessage {
  let message: String
  let id: String

  var severity: DiagnosticSeverity { .error }
  var diagnosticID: MessageID { MessageID(domain: "Vivarium", id: id) }
}

/// A fix-it.
struct Remedy: FixItMessage {
  let message: String
  let id: String
  let change: FixIt.Change

  var fixItID: MessageID { MessageID(domain: "Vivarium", id: id) }

  /// Replaces `old` with `new`.
  init(_ message: String, id: String, replace old: some SyntaxProtocol, with new: some SyntaxProtocol) {
    self.message = message
    self.id = id
    change = .replace(oldNode: Syntax(old), newNode: Syntax(new))
  }
}

extension MacroExpansionContext {
  func complain(_ message: String, id: String, at node: some SyntaxProtocol, remedy: Remedy? = nil) {
    let fixIts = remedy.map { [FixIt(message: $0, changes: [$0.change])] } ?? []
    diagnose(Diagnostic(node: Syntax(node), message: Complaint(message: message, id: id), fixIts: fixIts))
  }
}
