import SwiftCompilerPlugin
import SwiftSyntaxMacros

/// The compiler plugin with the macros of this package.
@main struct VivariumPlugin: CompilerPlugin {
  let providingMacros: [any Macro.Type] = [
    ModelMacro.self, PersistedMacro.self, MarkerMacro.self, IndexListMacro.self, ValueModelMacro.self,
  ]
}
