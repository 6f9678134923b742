import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// One stored property of a struct, and the property of the live class that stores its value.
struct ValueProperty {
  /// The property of the live class: an Array, Set or Dictionary becomes a list, set or map.
  let kept: Property
  /// `LiveList`, `LiveSet` or `LiveMap`; nil if the value is stored unchanged.
  private let collection: String?

  /// nil if the property is not persisted: static, computed, `@Transient`, or invalid.
  init?(_ declaration: VariableDeclSyntax, _ context: (any MacroExpansionContext)?) {
    for mark in ["Inverse", "Relationship", "Derived"] {
      if let attribute = declaration.attribute(mark) {
        context?.complain(
          "a value has no relationships, and nothing follows from them: use a class with '@Model'", id: "value", at: attribute)
        return nil
      }
    }
    let isKept = !declaration.has(.static) && declaration.attribute("Transient") == nil
    if isKept, let binding = declaration.bindings.first, let type = binding.typeAnnotation?.type,
      binding.accessorBlock == nil, declaration.bindings.count == 1, let live = ValueProperty.liveType(type)
    {
      var changed = declaration
      changed.bindings = [
        binding.with(\.typeAnnotation, TypeAnnotationSyntax(type: TypeSyntax("\(raw: live.name)<\(raw: live.argument)>")))
          .with(\.initializer, binding.initializer.flatMap { ValueProperty.initializer($0, of: type, live) })
      ]
      // Diagnoses in the original source whatever does not depend on the type.
      guard let property = Property.read(changed, nil) else {
        _ = Property.read(declaration, context)
        return nil
      }
      (kept, collection) = (property, live.name)
      return
    }
    guard let property = Property.read(declaration, context) else { return nil }
    if property.isCollection {
      context?.complain("a value holds its elements: use an Array, a Set or a Dictionary", id: "value", at: property.binding)
      return nil
    }
    (kept, collection) = (property, nil)
  }

  /// The expression for the value, from the live object's.
  func reading(_ source: String) -> String {
    switch collection {
    case "LiveList": "Array(\(source))"
    case "LiveSet": "Set(\(source))"
    // A map may have keys that a Dictionary takes for one: their bytes differ, and what they show does not. The last entry counts.
    case "LiveMap": "\(source)._$dictionary"
    default: source
    }
  }

  /// The expression for the live object's value, from the struct's.
  func writing(_ source: String) -> String {
    // The map that it is assigned to may have entries that the dictionary does not show.
    if collection == "LiveMap" { return "Vivarium.LiveMap(_$dictionary: \(source))" }
    return collection.map { "Vivarium.\($0)(\(source))" } ?? source
  }

  /// The default of the live class's collection; nil for an empty one, which it has without being told.
  private static func initializer(
    _ given: InitializerClauseSyntax, of type: TypeSyntax, _ live: (name: String, argument: String)
  ) -> InitializerClauseSyntax? {
    let value = given.value.trimmed
    if let array = value.as(ArrayExprSyntax.self), array.elements.isEmpty { return nil }
    if let dictionary = value.as(DictionaryExprSyntax.self), case .colon = dictionary.content { return nil }
    let made: ExprSyntax = "Vivarium.\(raw: live.name)<\(raw: live.argument)>((\(value)) as \(type.trimmed))"
    return InitializerClauseSyntax(equal: .equalToken(leadingTrivia: .space, trailingTrivia: .space), value: made)
  }

  /// The live class's collection for one of Swift's.
  private static func liveType(_ type: TypeSyntax) -> (name: String, argument: String)? {
    if let array = type.as(ArrayTypeSyntax.self) { return ("LiveList", array.element.trimmedDescription) }
    if let dictionary = type.as(DictionaryTypeSyntax.self), dictionary.key.trimmedDescription == "String" {
      return ("LiveMap", dictionary.value.trimmedDescription)
    }
    guard let named = type.as(IdentifierTypeSyntax.self), let arguments = named.genericArgumentClause?.arguments else { return nil }
    let names = arguments.map { $0.argument.trimmedDescription }
    switch (named.name.text, names.count) {
    case ("Array", 1): return ("LiveList", names[0])
    case ("Set", 1): return ("LiveSet", names[0])
    case ("Dictionary", 2) where names[0] == "String": return ("LiveMap", names[1])
    default: return nil
    }
  }
}
