import SwiftSyntax
import SwiftSyntaxMacros

/// `@PrimaryKey`, `@Indexed`, `@Unique`, `@FullText`, `@Inverse`, `@Renamed`, `@Transient`: generate nothing; `@Model` reads them.
struct MarkerMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }
}

/// `#Index` and `#Unique`: generate nothing; `@Model` reads them.
struct IndexListMacro: DeclarationMacro {
  static func expansion(
    of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
  ) -> [DeclSyntax] { [] }
}
