import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Turns a plain final class into a live object: generates schema, accessors, initialisers and conformances.
package struct ModelExpansion {
  let declaration: ClassDeclSyntax
  let properties: [Property]
  /// The type's name in the store, if it differs from the class's.
  var storedName: String?

  var name: String { declaration.name.text.filter { $0 != "`" } }
  /// Whether the model is declared `@Model(.embedded)`.
  var isEmbedded: Bool {
    declaration.attribute("Model")?.firstArgument?.as(MemberAccessExprSyntax.self)?.declName.baseName.text == "embedded"
  }
  /// Properties with a value of their own; inverses have none.
  var stored: [Property] { properties.filter { !$0.isInverse } }

  /// nil if the declaration cannot be a model; the reason is diagnosed if `context` is given.
  init?(_ group: some DeclGroupSyntax, _ context: (any MacroExpansionContext)?) {
    guard let declaration = group.as(ClassDeclSyntax.self) else {
      let isStruct = group.is(StructDeclSyntax.self)
      context?.complain(
        "'@Model' needs a final class" + (isStruct ? "; a struct is a '@ValueModel'" : ""), id: "class", at: group.introducer)
      return nil
    }
    guard ModelExpansion.isAllowed(declaration, context) else { return nil }
    self.declaration = declaration
    properties = declaration.persistedProperties(context)
    declaration.refuseHiddenMembers(context)
    if isEmbedded, let key = properties.first(where: \.isPrimaryKey) {
      context?.complain("an embedded model has no primary key: it is found through its owner", id: "key", at: key.binding)
    }
    for second in properties.filter(\.isPrimaryKey).dropFirst() {
      context?.complain("a model has one primary key", id: "key", at: second.binding)
    }
  }

  private static func isAllowed(_ declaration: ClassDeclSyntax, _ context: (any MacroExpansionContext)?) -> Bool {
    var isAllowed = true
    if !declaration.modifiers.contains(where: { $0.name.tokenKind == .keyword(.final) }) {
      context?.complain(
        "a model class must be 'final'", id: "final", at: declaration.classKeyword,
        remedy: Remedy("add 'final'", id: "final", replace: declaration, with: declaration.madeFinal()))
      isAllowed = false
    }
    if let generics = declaration.genericParameterClause {
      context?.complain("a model class cannot be generic: its schema is one value", id: "generic", at: generics)
      isAllowed = false
    }
    return isAllowed
  }

  /// "public ", "package " or empty: the access of the class's witnesses.
  var access: String { declaration.modifiers.access }
}

extension DeclModifierListSyntax {
  /// "public ", "package " or empty: the access of generated members.
  var access: String {
    for modifier in self {
      switch modifier.name.tokenKind {
      case .keyword(.public), .keyword(.open): return "public "
      case .keyword(.package): return "package "
      default: continue
      }
    }
    return ""
  }
}

extension ClassDeclSyntax {
  /// Diagnoses properties, of any kind, that would hide what every object says of itself.
  fileprivate func refuseHiddenMembers(_ context: (any MacroExpansionContext)?) {
    for case let variable? in memberBlock.members.map({ $0.decl.as(VariableDeclSyntax.self) }) where !variable.has(.static) {
      for binding in variable.bindings {
        let name = binding.pattern.trimmedDescription.filter { $0 != "`" }
        guard ["hashValue", "isInvalidated", "isManaged"].contains(name) else { continue }
        context?.complain(
          "'\(name)' is what every object has, and a property of that name would hide it: call it otherwise", id: "hidden", at: binding)
      }
    }
  }

  fileprivate func madeFinal() -> ClassDeclSyntax {
    var fixed = self
    var word = DeclModifierSyntax(name: .keyword(.final, trailingTrivia: .space))
    if modifiers.isEmpty {
      word.leadingTrivia = classKeyword.leadingTrivia
      fixed.classKeyword.leadingTrivia = []
    }
    fixed.modifiers = modifiers + [word]
    return fixed
  }
}

extension ModelExpansion: MemberMacro {
  package static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    ModelExpansion(declaration, context)?.members ?? []
  }
}

extension ModelExpansion: MemberAttributeMacro {
  package static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) -> [AttributeSyntax] {
    guard let model = ModelExpansion(declaration, nil),
      let name = member.as(VariableDeclSyntax.self)?.bindings.first?.pattern.as(IdentifierPatternSyntax.self),
      let ordinal = model.properties.firstIndex(where: { $0.identifier == name.identifier.text })
    else { return [] }
    return ["@_Persisted(\(raw: ordinal))"]
  }
}

extension ModelExpansion: ExtensionMacro {
  package static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard ModelExpansion(declaration, nil) != nil, !protocols.isEmpty else { return [] }
    let conformances = protocols.map { "nonisolated \($0.trimmedDescription)" }.joined(separator: ", ")
    return [try ExtensionDeclSyntax("extension \(type.trimmed): \(raw: conformances) {}")]
  }
}
