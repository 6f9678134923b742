import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

extension DeclGroupSyntax {
  /// The persisted properties in order of declaration. Skips invalid ones, and diagnoses them if `context` is given.
  func persistedProperties(_ context: (any MacroExpansionContext)? = nil) -> [Property] {
    memberBlock.members.compactMap { member in
      member.decl.as(VariableDeclSyntax.self).flatMap { Property.read($0, context) }
    }
  }
}

extension Property {
  /// nil if the property is not persisted: static, computed, `@Transient`, or invalid.
  static func read(_ declaration: VariableDeclSyntax, _ context: (any MacroExpansionContext)?) -> Property? {
    if declaration.has(.static) || declaration.has(.class) || declaration.attribute("Transient") != nil { return nil }
    guard let binding = declaration.bindings.first else { return nil }
    if let accessors = binding.accessorBlock {
      refuseObservers(in: accessors, binding, context)
      return nil
    }
    guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
      isAllowed(declaration, context)
    else {
      if !binding.pattern.is(IdentifierPatternSyntax.self) {
        context?.complain("a persisted property cannot be part of a tuple", id: "tuple", at: binding)
      }
      return nil
    }
    let annotation = binding.typeAnnotation?.type
    guard let type = annotation?.trimmedDescription ?? binding.initializer?.value.evidentType else {
      refuseUnknownType(of: identifier, binding, context)
      return nil
    }
    if let annotation, refuses(annotation, of: declaration, context) { return nil }
    let property = Property(declaration: declaration, binding: binding, identifier: identifier, type: type)
    property.checkMarks(context)
    return property
  }

  private static func isAllowed(_ declaration: VariableDeclSyntax, _ context: (any MacroExpansionContext)?) -> Bool {
    if declaration.has(.lazy) {
      context?.complain(
        "a 'lazy' property cannot be persisted", id: "lazy", at: declaration, remedy: .transient(declaration))
      return false
    }
    if declaration.has(.weak) || declaration.has(.unowned) {
      context?.complain(
        "a persisted link is neither 'weak' nor 'unowned': it never keeps its target alive", id: "weak",
        at: declaration, remedy: .transient(declaration))
      return false
    }
    if declaration.bindingSpecifier.tokenKind == .keyword(.let) {
      var fixed = declaration
      fixed.bindingSpecifier = .keyword(
        .var, leadingTrivia: declaration.bindingSpecifier.leadingTrivia, trailingTrivia: .space)
      context?.complain(
        "a persisted property must be a 'var'", id: "let", at: declaration,
        remedy: Remedy("make it a 'var'", id: "let", replace: declaration, with: fixed))
      return false
    }
    if declaration.bindings.count > 1 {
      context?.complain("declare one persisted property a line", id: "bindings", at: declaration)
      return false
    }
    return true
  }

  private static func refuseObservers(
    in accessors: AccessorBlockSyntax, _ binding: PatternBindingSyntax, _ context: (any MacroExpansionContext)?
  ) {
    guard case .accessors(let list) = accessors.accessors,
      list.contains(where: { ["didSet", "willSet"].contains($0.accessorSpecifier.text) })
    else { return }
    context?.complain(
      "'didSet' and 'willSet' do not run for changes made elsewhere, so a persisted property cannot have them",
      id: "observer", at: accessors,
      remedy: Remedy(
        "remove the observer", id: "observer", replace: binding,
        with: binding.with(\.accessorBlock, nil).with(\.trailingTrivia, [])))
  }

  private static func refuseUnknownType(
    of identifier: String, _ binding: PatternBindingSyntax, _ context: (any MacroExpansionContext)?
  ) {
    let annotation = TypeAnnotationSyntax(
      colon: .colonToken(trailingTrivia: .space), type: TypeSyntax("<#Type#>"), trailingTrivia: .space)
    context?.complain(
      "the type of '\(identifier)' cannot be read from its default: write it", id: "type", at: binding,
      remedy: Remedy(
        "add the type", id: "type", replace: binding,
        with: binding.with(\.pattern, binding.pattern.trimmed).with(\.typeAnnotation, annotation)))
  }

  /// Whether the type is recognisably invalid; diagnoses it. The compiler checks the others by overload resolution.
  private static func refuses(
    _ type: TypeSyntax, of declaration: VariableDeclSyntax, _ context: (any MacroExpansionContext)?
  ) -> Bool {
    let text = type.trimmedDescription
    if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
      let optional = "\(unwrapped.wrappedType.trimmedDescription)?"
      context?.complain(
        "'\(text)' cannot be persisted; use '\(optional)'", id: "unwrapped", at: type,
        remedy: .type(type, optional))
      return true
    }
    if let replacement = replacement(for: type) {
      context?.complain(
        "'\(text)' cannot be persisted; use '\(replacement)'", id: "unsupported", at: type,
        remedy: .type(type, replacement))
      return true
    }
    if type.isTuple {
      context?.complain(
        "a tuple cannot be persisted; make it a struct that is a 'PersistableStruct'", id: "unsupported", at: type,
        remedy: .transient(declaration))
      return true
    }
    if type.is(DictionaryTypeSyntax.self) || type.isGeneric("Dictionary") {
      context?.complain(
        "'\(text)' cannot be persisted", id: "unsupported", at: type, remedy: .transient(declaration))
      return true
    }
    return false
  }

  /// The Vivarium type to use instead of one of Swift's.
  private static func replacement(for type: TypeSyntax) -> String? {
    if let optional = type.as(OptionalTypeSyntax.self) {
      // Collections and mixed values have an empty value of their own.
      return replacement(for: optional.wrappedType).map { $0.hasPrefix("Live") || $0 == "AnyValue" ? $0 : $0 + "?" }
    }
    if let array = type.as(ArrayTypeSyntax.self) {
      let element = array.element.trimmedDescription
      return element == "UInt8" ? "Data" : "LiveList<\(element)>"
    }
    if let dictionary = type.as(DictionaryTypeSyntax.self), dictionary.key.trimmedDescription == "String" {
      return "LiveMap<\(dictionary.value.trimmedDescription)>"
    }
    if type.isGeneric("Array") || type.isGeneric("Set"), let name = type.as(IdentifierTypeSyntax.self) {
      return "Live\(name.name.text == "Set" ? "Set" : "List")\(name.genericArgumentClause?.trimmedDescription ?? "")"
    }
    switch type.trimmedDescription {
    case "UInt", "UInt8", "UInt16", "UInt32", "UInt64": return "Int"
    case "Character", "Substring", "Unicode.Scalar": return "String"
    case "CGFloat", "Float16", "Float80": return "Double"
    case "Decimal", "NSDecimalNumber": return "Decimal128"
    case "Any", "AnyHashable": return "AnyValue"
    case "NSNumber": return "Double"
    case "NSString": return "String"
    case "NSData": return "Data"
    case "NSDate": return "Date"
    default: return nil
    }
  }

  private func checkMarks(_ context: (any MacroExpansionContext)?) {
    if declaration.attribute("Inverse") != nil, !type.hasPrefix("LinkingObjects<"), !isOptional {
      context?.complain(
        "an inverse is a 'LinkingObjects<…>' or, to one, optional", id: "inverse", at: binding)
    }
    if declaration.attribute("Inverse") == nil, type.hasPrefix("LinkingObjects<") {
      context?.complain(
        "say which property this is the inverse of: '@Inverse(\\Type.property)'", id: "inverse", at: binding)
    }
    if declaration.attribute("Inverse") != nil, inverse == nil {
      context?.complain("'@Inverse' takes a key path: '@Inverse(\\Type.property)'", id: "inverse", at: binding)
    }
    if declaration.attribute("Relationship") != nil, isInverse {
      context?.complain("a delete rule belongs to the property that points forward, not to its inverse", id: "rule", at: binding)
    }
    if declaration.attribute("Relationship") != nil, deleteRule == nil {
      context?.complain("say what happens on delete: '@Relationship(deleteRule: .cascade)'", id: "rule", at: binding)
    }
    if let attribute = declaration.attribute("Renamed"), renamedFrom == nil || renamedFrom == name {
      context?.complain("say the property's name in older files: '@Renamed(from: \"old\")'", id: "renamed", at: attribute)
    }
    if isDerived, derivation == nil {
      context?.complain(
        "say what the property follows from: '@Derived(\\Type.collection.count)' or "
          + "'@Derived(.sum, of: \\Other.number, over: \\Type.collection)'",
        id: "derived", at: binding)
    }
    if isDerived, defaultValue == nil, !isOptional {
      context?.complain("a derived property needs a value for unmanaged objects: write '= 0'", id: "derived", at: binding)
    }
    if isPrimaryKey, isOptional {
      context?.complain("a primary key cannot be optional", id: "key", at: binding)
    }
    checkTypes(context)
    for mark in ["PrimaryKey", "Indexed", "Unique", "FullText"] where isCollection || isInverse {
      if let attribute = declaration.attribute(mark) {
        context?.complain("a collection cannot be indexed", id: "indexed", at: attribute)
      }
    }
  }
}

extension Property {
  /// Diagnoses attributes that do not fit the type, if its name reveals that; otherwise opening a store does.
  private func checkTypes(_ context: (any MacroExpansionContext)?) {
    let bare = isOptional ? type.filter { $0 != "?" } : type
    if let attribute = declaration.attribute("PrimaryKey"), Property.noKeys.contains(bare) {
      context?.complain(
        "a primary key is a String, a UUID, an ObjectId or an integer, not \(bare)", id: "key", at: attribute)
    }
    if let attribute = declaration.attribute("FullText"), Property.noTexts.contains(bare) {
      context?.complain(
        "'@FullText' finds the words of a String, and '\(name)' is \(bare): '@Indexed' finds values", id: "text", at: attribute)
    }
  }

  private static let noKeys: Set<String> = ["Bool", "Float", "Double", "Date", "Timestamp", "Data", "Decimal128", "AnyValue"]
  private static let noTexts = noKeys.union(["Int", "Int8", "Int16", "Int32", "Int64", "UUID", "ObjectId"])
}

extension TypeSyntax {
  fileprivate var isTuple: Bool {
    if let optional = `as`(OptionalTypeSyntax.self) { return optional.wrappedType.isTuple }
    return `as`(TupleTypeSyntax.self).map { $0.elements.count > 1 } ?? false
  }

  fileprivate func isGeneric(_ name: String) -> Bool {
    guard let type = `as`(IdentifierTypeSyntax.self) else { return false }
    return type.name.text == name && type.genericArgumentClause != nil
  }
}

extension Remedy {
  fileprivate static func type(_ old: TypeSyntax, _ new: String) -> Remedy {
    Remedy(
      "replace '\(old.trimmedDescription)' with '\(new)'", id: "unsupported", replace: old,
      with: TypeSyntax(stringLiteral: new).with(\.trailingTrivia, old.trailingTrivia))
  }

  fileprivate static func transient(_ declaration: VariableDeclSyntax) -> Remedy {
    var fixed = declaration.with(\.leadingTrivia, [])
    fixed.attributes.insert(
      .attribute(AttributeSyntax("@Transient").with(\.trailingTrivia, .space)), at: fixed.attributes.startIndex)
    return Remedy(
      "keep it out of the store with '@Transient'", id: "transient", replace: declaration,
      with: fixed.with(\.leadingTrivia, declaration.leadingTrivia))
  }
}
