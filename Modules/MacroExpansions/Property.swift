import SwiftSyntax

/// One persisted property, read from syntax alone: a macro knows no types.
struct Property {
  let declaration: VariableDeclSyntax
  let binding: PatternBindingSyntax
  /// The name as written, with backticks if it has them.
  let identifier: String
  let type: String

  /// The name in the schema, without backticks.
  var name: String { identifier.filter { $0 != "`" } }
  var defaultValue: ExprSyntax? { binding.initializer?.value.trimmed }

  /// Whether the type is a list, set or map.
  var isCollection: Bool { ["LiveList<", "LiveSet<", "LiveMap<"].contains { type.hasPrefix($0) } }
  /// Whether the type is a mixed value, which has a null of its own.
  var isMixed: Bool { type == "AnyValue" || type == "Vivarium.AnyValue" }
  var isInverse: Bool { type.hasPrefix("LinkingObjects<") || declaration.attribute("Inverse") != nil }
  var isOptional: Bool { type.hasSuffix("?") || type.hasPrefix("Optional<") }
  /// Whether it must get a value before the object is added.
  var isRequired: Bool { defaultValue == nil && !isCollection && !isOptional && !isInverse && !isMixed && !isDerived }
  var isPrimaryKey: Bool { declaration.attribute("PrimaryKey") != nil }
  var isPrivate: Bool {
    declaration.modifiers.contains { ["private", "fileprivate"].contains($0.name.text) && $0.detail == nil }
  }

  /// The property that an inverse is computed from: the last component of `@Inverse(\Person.dogs)`.
  var inverse: (path: KeyPathExprSyntax, property: String)? {
    guard let path = declaration.attribute("Inverse")?.firstArgument?.as(KeyPathExprSyntax.self),
      let last = path.components.last
    else { return nil }
    return (path.trimmed, last.unescapedName)
  }

  /// The argument of `@Relationship(deleteRule:)`.
  var deleteRule: ExprSyntax? { declaration.attribute("Relationship")?.firstArgument?.trimmed }

  /// The argument of `@Renamed(from:)`, if it is a plain string literal.
  var renamedFrom: String? {
    guard let text = declaration.attribute("Renamed")?.firstArgument?.as(StringLiteralExprSyntax.self),
      text.segments.count == 1, let name = text.segments.first?.as(StringSegmentSyntax.self)?.content.text, !name.isEmpty
    else { return nil }
    return name
  }

  var isDerived: Bool { declaration.attribute("Derived") != nil }

  /// The argument for the schema made from `@Derived`; nil if it cannot be read.
  var derivation: String? {
    guard let arguments = declaration.attribute("Derived")?.arguments?.as(LabeledExprListSyntax.self) else { return nil }
    let names = arguments.map { argument in
      argument.expression.as(KeyPathExprSyntax.self)?.components.map(\.unescapedName) ?? []
    }
    if arguments.count == 1, let path = names.first, path.count == 2, path[1] == "count" {
      return "Vivarium.Derivation(.count, over: \"\(path[0])\")"
    }
    guard arguments.count == 3, let function = arguments.first?.expression.as(MemberAccessExprSyntax.self),
      let number = names[1].last, let relationship = names[2].last
    else { return nil }
    return "Vivarium.Derivation(.\(function.declName.baseName.text), of: \"\(number)\", over: \"\(relationship)\")"
  }

  /// The default, if its text alone determines its value: then objects stored before the property existed can have it too.
  var constantDefault: ExprSyntax? {
    guard let value = defaultValue, !isDerived, !isInverse, !isCollection, !isMixed, !value.is(NilLiteralExprSyntax.self)
    else { return nil }
    return value.isConstant ? value : nil
  }

  /// Whether the default may be another value each time: then it is evaluated for each object.
  var hasComputedDefault: Bool {
    guard let value = defaultValue, !isDerived, !isInverse else { return false }
    // `LiveList<Dog>()` is as empty each time as `[]`.
    if isCollection, let call = value.as(FunctionCallExprSyntax.self), call.arguments.isEmpty, call.trailingClosure == nil,
      call.calledExpression.trimmedDescription == type
    {
      return false
    }
    return !value.isLiteral
  }
}

extension ExprSyntax {
  fileprivate var isConstant: Bool {
    if `is`(IntegerLiteralExprSyntax.self) || `is`(FloatLiteralExprSyntax.self) || `is`(BooleanLiteralExprSyntax.self) {
      return true
    }
    if let text = `as`(StringLiteralExprSyntax.self) {
      return text.segments.allSatisfy { $0.is(StringSegmentSyntax.self) }
    }
    if let prefixed = `as`(PrefixOperatorExprSyntax.self) { return prefixed.expression.isConstant }
    if let member = `as`(MemberAccessExprSyntax.self) { return member.base == nil }
    return false
  }

  /// Whether it is made of literals alone. `.member` is none: it may be the case of an enum, or `.now`.
  fileprivate var isLiteral: Bool {
    if `is`(NilLiteralExprSyntax.self) { return true }
    if let array = `as`(ArrayExprSyntax.self) { return array.elements.allSatisfy { $0.expression.isLiteral } }
    if let dictionary = `as`(DictionaryExprSyntax.self) {
      guard case .elements(let elements) = dictionary.content else { return true }
      return elements.allSatisfy { $0.key.isLiteral && $0.value.isLiteral }
    }
    if let prefixed = `as`(PrefixOperatorExprSyntax.self) { return prefixed.expression.isLiteral }
    return isConstant && !`is`(MemberAccessExprSyntax.self)
  }

  /// The type that a literal, `Type(…)` or `Type.member` reveals.
  var evidentType: String? {
    if `is`(StringLiteralExprSyntax.self) { return "String" }
    if `is`(IntegerLiteralExprSyntax.self) { return "Int" }
    if `is`(FloatLiteralExprSyntax.self) { return "Double" }
    if `is`(BooleanLiteralExprSyntax.self) { return "Bool" }
    if let prefixed = `as`(PrefixOperatorExprSyntax.self) { return prefixed.expression.evidentType }
    let named = `as`(FunctionCallExprSyntax.self)?.calledExpression ?? `as`(MemberAccessExprSyntax.self)?.base
    guard let named, named.isTypeName else { return nil }
    return named.trimmedDescription
  }

  private var isTypeName: Bool {
    if let reference = `as`(DeclReferenceExprSyntax.self) { return reference.baseName.text.first?.isUppercase ?? false }
    if let member = `as`(MemberAccessExprSyntax.self) {
      return (member.base?.isTypeName ?? false) && (member.declName.baseName.text.first?.isUppercase ?? false)
    }
    if let generic = `as`(GenericSpecializationExprSyntax.self) { return generic.expression.isTypeName }
    return false
  }
}

extension WithAttributesSyntax {
  func attribute(_ name: String) -> AttributeSyntax? {
    attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.trimmedDescription == name }
  }
}

extension VariableDeclSyntax {
  func has(_ keyword: Keyword) -> Bool { modifiers.contains { $0.name.tokenKind == .keyword(keyword) } }
}

extension KeyPathComponentSyntax {
  /// The property's name, without the escapes of a word of Swift.
  var unescapedName: String { component.trimmedDescription.filter { $0 != "`" } }
}

extension AttributeSyntax {
  var firstArgument: ExprSyntax? { arguments?.as(LabeledExprListSyntax.self)?.first?.expression }
}
