import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// One stored property of a struct, and the one of the live class that keeps it.
struct ValueProperty {
  /// Of the live class: an Array, Set or Dictionary is a list, set or map there.
  let kept: Property
  /// `LiveList`, `LiveSet` or `LiveMap`; nil for what is kept as it is.
  private let collection: String?

  /// nil for what is not persisted: static, computed, `@Transient`, and what is refused.
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
          .with(\.initializer, nil)
      ]
      // Of the original, what does not depend on the type is complained about.
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

  /// The value from what the live object has.
  func reading(_ source: String) -> String {
    switch collection {
    case "LiveList": "Array(\(source))"
    case "LiveSet": "Set(\(source))"
    case "LiveMap": "Dictionary(uniqueKeysWithValues: \(source).entries.map { ($0.key, $0.value) })"
    default: source
    }
  }

  /// What the live object is given for the value.
  func writing(_ source: String) -> String { collection.map { "Vivarium.\($0)(\(source))" } ?? source }

  /// The collection of the live class that keeps one of Swift's.
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
