import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The accessors of one persisted property, given its ordinal in the model.
///
/// The getter touches no class but the object: a raw pointer, one byte that says whether reads are tracked, and
/// the load. The object itself is handed to nobody, not even to what reports the read, which is told its key and the
/// property's ordinal: so the compiler sees that it does not escape, and a loop over results needs no memory for its
/// objects. Its lifetime is extended over the load because the pointer is only good while it lives.
struct PersistedMacro: AccessorMacro {
  static func expansion(
    of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [AccessorDeclSyntax] {
    guard let variable = declaration.as(VariableDeclSyntax.self), let property = Property.read(variable, nil),
      let ordinal = node.firstArgument?.trimmedDescription
    else { return [] }
    return accessors(of: property, ordinal)
  }

  static func accessors(of property: Property, _ ordinal: String) -> [AccessorDeclSyntax] {
    let name = property.identifier
    if property.isInverse {
      return [
        """
        get {
          guard let raw = _$raw else { return Vivarium.unmanagedInverse() }
          if raw.pointee.tracksReads { raw.pointee.noteRead(_$key, \(raw: ordinal)) }
          return withExtendedLifetime(self) { raw.pointee.inverse(_$key, \(raw: ordinal)) }
        }
        """
      ]
    }
    if property.isDerived {
      return [
        """
        get {
          guard let raw = _$raw else { return _$values.\(raw: name) }
          if raw.pointee.tracksReads { raw.pointee.noteRead(_$key, \(raw: ordinal)) }
          return withExtendedLifetime(self) { raw.pointee.derived(_$key, \(raw: ordinal)) }
        }
        """
      ]
    }
    let unmanaged = property.isRequired ? "Vivarium.required(_$values.\(name))" : "_$values.\(name)"
    return [
      """
      get {
        guard let raw = _$raw else { return \(raw: unmanaged) }
        if raw.pointee.tracksReads { raw.pointee.noteRead(_$key, \(raw: ordinal)) }
        return withExtendedLifetime(self) { raw.pointee.load(_$key, \(raw: ordinal)) }
      }
      """,
      """
      set {
        guard let raw = _$raw else {
          let values = _$values
          values._$observers?.willSet(\(raw: ordinal))
          values.\(raw: name) = newValue
          values._$observers?.didSet(\(raw: ordinal))
          return
        }
        withExtendedLifetime(self) { raw.pointee.store(_$key, \(raw: ordinal), newValue) }
      }
      """,
    ]
  }
}
