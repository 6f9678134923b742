import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler's way to the macros of this package.
@main struct VivariumPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ModelMacro.self, PersistedMacro.self, MarkerMacro.self, IndexListMacro.self, ValueModelMacro.self,
  ]
}
