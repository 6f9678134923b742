import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The accessors of one persisted property, given its ordinal in the model.
///
/// The getter uses no class instance but the object itself: it reads a raw pointer, one byte that says whether reads are tracked,
/// and the value. It passes the object on to nothing: even the function that reports the read gets only key and ordinal. So the
/// compiler sees that the object does not escape, and a loop over results allocates no memory for its objects. The object's
/// lifetime is extended over the load because the pointer is valid only while the object lives.
package struct PersistedExpansion: AccessorMacro {
  package static func expansion(
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
