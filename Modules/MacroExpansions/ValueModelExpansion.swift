import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Turns a plain struct into a model whose objects are values: generates a live class with the same properties, and the conversions
/// between the two.
package struct ValueModelExpansion {
  private let declaration: StructDeclSyntax
  private let properties: [ValueProperty]

  /// nil if the declaration cannot be a value model; the reason is diagnosed if `context` is given.
  init?(_ group: some DeclGroupSyntax, _ context: (any MacroExpansionContext)?) {
    guard let declaration = group.as(StructDeclSyntax.self) else {
      context?.complain("'@ValueModel' needs a struct; a class is a '@Model'", id: "struct", at: group.introducer)
      return nil
    }
    if let generics = declaration.genericParameterClause {
      context?.complain("a model cannot be generic: its schema is one value", id: "generic", at: generics)
      return nil
    }
    self.declaration = declaration
    properties = declaration.memberBlock.members.compactMap { member in
      member.decl.as(VariableDeclSyntax.self).flatMap { ValueProperty($0, context) }
    }
    for second in properties.map(\.kept).filter(\.isPrimaryKey).dropFirst() {
      context?.complain("a model has one primary key", id: "key", at: second.binding)
    }
  }

  /// "public ", "package " or empty.
  private var access: String { declaration.modifiers.access }

  /// The class that `@Model` expands: without members that are not properties, and without `@Transient` ones.
  private var model: ModelExpansion? {
    let lists = declaration.memberBlock.members.compactMap { $0.decl.as(MacroExpansionDeclSyntax.self)?.trimmedDescription }
    let lines = properties.map(\.kept.declaration.trimmedDescription) + lists
    let source: DeclSyntax = "\(raw: access)final class Live {\n\(raw: lines.joined(separator: "\n"))\n}"
    guard let live = source.as(ClassDeclSyntax.self) else { return nil }
    var model = ModelExpansion(live, nil)
    model?.storedName = declaration.name.text.filter { $0 != "`" }
    return model
  }
}

extension ValueModelExpansion: MemberMacro {
  package static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) -> [DeclSyntax] {
    guard let macro = ValueModelExpansion(declaration, context), let model = macro.model else { return [] }
    var lines: [String] = []
    for (ordinal, property) in model.properties.enumerated() {
      let accessors = PersistedExpansion.accessors(of: property, "\(ordinal)").map(\.description).joined(separator: "\n")
      lines.append("\(macro.access)var \(property.identifier): \(property.type) {\n\(accessors)\n}")
    }
    lines += model.members.map(\.description)
    return [
      """
      /// The live objects behind the values.
      \(raw: macro.access)final class Live: nonisolated Vivarium.Model {
      \(raw: lines.joined(separator: "\n"))
      }
      """
    ]
  }
}

extension ValueModelExpansion: ExtensionMacro {
  package static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let macro = ValueModelExpansion(declaration, nil), !protocols.isEmpty else { return [] }
    let reads = macro.properties.map { "self.\($0.kept.identifier) = \($0.reading("object.\($0.kept.identifier)"))" }
    let writes = macro.properties.map { "object.\($0.kept.identifier) = \($0.writing("self.\($0.kept.identifier)"))" }
    return [
      try ExtensionDeclSyntax(
        """
        extension \(type.trimmed): nonisolated Vivarium.ValueModel {
          \(raw: macro.access)nonisolated init(_$live object: Live) {
        \(raw: reads.joined(separator: "\n"))
          }
          \(raw: macro.access)nonisolated func _$assign(to object: Live) {
        \(raw: writes.joined(separator: "\n"))
          }
        }
        """)
    ]
  }
}
