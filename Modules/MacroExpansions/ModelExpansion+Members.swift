import SwiftSyntax
import SwiftSyntaxBuilder

extension ModelExpansion {
  /// All members that the macro adds to the class.
  var members: [DeclSyntax] {
    let members: [DeclSyntax] = [valuesBox] + storage + initialisers + [
      "\(raw: access)static var _$name: String { \"\(raw: storedName ?? name)\" }",
      schema,
      keyPaths,
      adoption,
    ]
    return members + computedDefaults
  }

  /// The values of an unmanaged object: a box that live objects lack.
  private var valuesBox: DeclSyntax {
    let fields = ["var _$observers: Vivarium.UnmanagedObservers?"] + stored.map { "var \($0.identifier): \($0.boxedType)" }
    let defaults = stored.map { "self.\($0.identifier) = \($0.initialValue)" }
    let given = memberwise.map { "self.\($0.identifier) = \($0.identifier)" }
    let others = stored.filter { p in !memberwise.contains { $0.identifier == p.identifier } }
      .map { "self.\($0.identifier) = \($0.initialValue)" }
    var lines = fields + ["init() {"] + defaults + ["}"]
    if !memberwise.isEmpty {
      let parameters = memberwise.map { "\($0.identifier): \($0.type)" }.joined(separator: ", ")
      lines += ["init(\(parameters)) {"] + given + others + ["}"]
    }
    return "final class _$Values {\n\(raw: lines.joined(separator: "\n"))\n}"
  }

  /// Three words. Without `_$raw` the object is unmanaged, and `_$owner` is its box, or nil until the box is needed; with `_$raw`,
  /// `_$owner` is the store.
  private var storage: [DeclSyntax] {
    [
      "@exclusivity(unchecked) \(raw: access)var _$raw: UnsafeMutablePointer<Vivarium.RawContext>?",
      "@exclusivity(unchecked) \(raw: access)var _$key: Int64 = 0",
      "@exclusivity(unchecked) \(raw: access)var _$owner: AnyObject?",
      """
      var _$values: _$Values {
        if let owner = _$owner { return unsafeDowncast(owner, to: _$Values.self) }
        let values = _$Values()
        _$owner = values
        return values
      }
      """,
      """
      \(raw: access)var _$observers: Vivarium.UnmanagedObservers? {
        get { _$raw == nil ? _$values._$observers : nil }
        set { if _$raw == nil { _$values._$observers = newValue } }
      }
      """,
    ]
  }

  private var initialisers: [DeclSyntax] {
    var result: [DeclSyntax] = [
      """
      \(raw: access)init(_$handle: Vivarium.ModelHandle) {
        _$raw = _$handle.raw
        _$key = _$handle.key
        _$owner = _$handle.owner
      }
      """,
      "\(raw: access)init(_$blank: Void) {\n}",
    ]
    let hasOwn = declaration.memberBlock.members.contains { $0.decl.is(InitializerDeclSyntax.self) }
    let isComplete = stored.allSatisfy { p in
      !p.isRequired || memberwise.contains { $0.identifier == p.identifier }
    }
    if !hasOwn, isComplete { result.append(memberwiseInitialiser) }
    return result
  }

  /// The properties that the memberwise initialiser takes.
  private var memberwise: [Property] { stored.filter { !$0.isCollection && !$0.isPrivate && !$0.isDerived } }

  private var memberwiseInitialiser: DeclSyntax {
    let isVisible = memberwise.allSatisfy { property in
      access.isEmpty || property.declaration.modifiers.contains { $0.name.text + " " == access }
    }
    let parameters = memberwise.map { property -> String in
      let value = property.defaultValue.map { " = \($0)" } ?? (property.isOptional || property.isMixed ? " = nil" : "")
      return "\(property.identifier): \(property.type)\(value)"
    }
    let arguments = memberwise.map { "\($0.label): \($0.identifier)" }.joined(separator: ", ")
    return """
      \(raw: isVisible ? access : "")init(\(raw: parameters.joined(separator: ", "))) {
        _$owner = _$Values(\(raw: arguments))
      }
      """
  }

  private var schema: DeclSyntax {
    let rows = properties.map { property -> String in
      let path = "\\\(name).\(property.identifier)"
      if let inverse = property.inverse {
        return "._inverse(\"\(property.name)\", \(path), of: \(inverse.path), named: \"\(inverse.property)\")"
      }
      return "._property(\"\(property.name)\", \(path)\(property.marks))"
    }
    return """
      \(raw: access)static let _$schema = Vivarium.ObjectSchema(
        name: \(literal: storedName ?? name),
        properties: [
      \(raw: rows.map { "    " + $0 }.joined(separator: ",\n"))
        ],
        indexes: [\(raw: compoundIndexes.joined(separator: ", "))]\(raw: isEmbedded ? ", isEmbedded: true" : "")\(raw: renames))
      """
  }

  /// The argument for the properties that have another name in older files.
  private var renames: String {
    let pairs = properties.compactMap { property in
      property.renamedFrom.map { "Vivarium.PropertyRename(from: \"\($0)\", to: \"\(property.name)\")" }
    }
    return pairs.isEmpty ? "" : ", renames: [\(pairs.joined(separator: ", "))]"
  }

  private var compoundIndexes: [String] {
    declaration.memberBlock.members
      .compactMap { $0.decl.as(MacroExpansionDeclSyntax.self) }
      .filter { ["Index", "Unique"].contains($0.macroName.text) }
      .flatMap { list in
        list.arguments.compactMap { $0.expression.as(ArrayExprSyntax.self) }.map { array in
          let names = array.elements.compactMap { element -> String? in
            guard let path = element.expression.as(KeyPathExprSyntax.self), let last = path.components.last else {
              return nil
            }
            return "\"\(last.unescapedName)\""
          }
          let properties = names.joined(separator: ", ")
          return "Vivarium.IndexSchema(properties: [\(properties)], isUnique: \(list.macroName.text == "Unique"))"
        }
      }
  }

  private var keyPaths: DeclSyntax {
    let paths = properties.map { "\\\(name).\($0.identifier)" }.joined(separator: ", ")
    return "\(raw: access)static let _$keyPaths: [any PartialKeyPath<\(raw: name)> & Sendable] = [\(raw: paths)]"
  }

  /// The ordinals of the properties whose default is no literal. Nothing if there are none, which is what `Model` says itself.
  private var computedDefaults: [DeclSyntax] {
    let ordinals = properties.indices.filter { properties[$0].hasComputedDefault }.map { "\($0)" }.joined(separator: ", ")
    return ordinals.isEmpty ? [] : ["\(raw: access)static let _$computedDefaults: [Int] = [\(raw: ordinals)]"]
  }

  /// Moves an unmanaged object's values into a row, and passes on its observers.
  private var adoption: DeclSyntax {
    let lines = properties.enumerated().compactMap { ordinal, property -> String? in
      if property.isInverse { return nil }
      let call = property.isRequired ? "try adoption.put(required: " : "adoption.put("
      return "  \(call)values.\(property.identifier), \(ordinal))"
    }
    let first = ["  let values = _$values", "  if let observers = values._$observers { adoption.observers = observers }"]
    return """
      \(raw: access)func _$fill(_ adoption: Vivarium.Adoption) throws(Vivarium.StoreError) {
      \(raw: (first + lines).joined(separator: "\n"))
      }
      """
  }
}

extension Property {
  /// The type in the box. A required value is nil until it is set.
  fileprivate var boxedType: String { isRequired ? "\(type)?" : type }

  /// The name as a label of a call, where the compiler warns of escapes that are not needed.
  fileprivate var label: String { ["inout", "let", "var"].contains(name) ? identifier : name }

  fileprivate var initialValue: String {
    if let defaultValue { return "\(defaultValue)" }
    return isCollection || isMixed ? "\(type)()" : "nil"
  }

  /// The further arguments of `_property`.
  fileprivate var marks: String {
    var result = ""
    if isPrimaryKey { result += ", isPrimaryKey: true" }
    if declaration.attribute("Indexed") != nil { result += ", isIndexed: true" }
    if declaration.attribute("Unique") != nil { result += ", isUnique: true" }
    if declaration.attribute("FullText") != nil { result += ", isFullText: true" }
    if let derivation { result += ", derivation: \(derivation)" }
    if let deleteRule { result += ", deleteRule: \(deleteRule)" }
    if let constantDefault { result += ", default: \(constantDefault)" }
    return result
  }
}
