import ArgumentParser
import Foundation
import Inspection

extension InspectCommand {
  struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "With --dry-run: what opening the store with other types would do. Writes nothing.",
      discussion: """
        The types are those of another store (--like), or what 'inspect schema --format json' prints (--schema). What a \
        program's migration block does, only the program knows: its 'Store.dryRun' tells that too.
        """)

    @OptionGroup var target: Target
    @Flag(help: "Needed: only the program that has the models migrates a store.") var dryRun = false
    @Option(help: "A store that has the types.") var like: String?
    @Option(help: "A file of types as JSON; '-' is standard input.") var schema: String?
    @Option(help: "The program's schema version; the file's when it is not given.") var schemaVersion: UInt64?
    @Option(name: .customLong("renamed"), help: ArgumentHelp("A type with another name than before.", valueName: "Old=New"))
    var renamed: [String] = []

    func run() throws {
      guard dryRun else {
        throw InspectionError(
          .usage, "A store is migrated by the program that has its models, when it opens it. Give --dry-run to see what that would do.")
      }
      var names: [String: String] = [:]
      for pair in renamed {
        let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
          throw InspectionError(.usage, "'--renamed \(pair)' is not 'Old=New'.")
        }
        names[String(parts[0])] = String(parts[1])
      }
      try target.inspector().migrationDryRun(
        to: SchemaText.schema(try types()), version: schemaVersion, renamedTypes: names)
    }

    private func types() throws -> Data {
      switch (like, schema) {
      case (let like?, nil):
        let output = StringOutput()
        try Target.inspector(of: like, .json, output).schema()
        return Data(output.text.utf8)
      case (nil, "-"?): return FileHandle.standardInput.readDataToEndOfFile()
      case (nil, let path?):
        guard let json = FileManager.default.contents(atPath: path) else {
          throw InspectionError(.cannotOpen, "\(path) cannot be read.")
        }
        return json
      default: throw InspectionError(.usage, "Say which types the store would be opened with: --like or --schema.")
      }
    }
  }
}
