import ArgumentParser
import Foundation
import StorageLMDB
import StorageSQLite
import StoreInspection
import StoreValues

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
    @OptionGroup var types: Types
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
      guard let schema = try types.schema() else {
        throw InspectionError(.usage, "Say which types the store would be opened with: --like or --schema.")
      }
      try target.inspector().migrationDryRun(
        to: schema, version: schemaVersion, renamedTypes: names)
    }
  }
}

/// The types that a program has, which no file of its says.
struct Types: ParsableArguments {
  @Option(help: "A store that has the types.") var like: String?
  @Option(name: .customLong("schema"), help: "A file of types as JSON; '-' is standard input.") var file: String?

  /// nil when none were given.
  func schema() throws -> Schema? {
    switch (like, file) {
    case (nil, nil): return nil
    case (let like?, nil):
      let output = StringOutput()
      try InspectCommand.Target.inspector(of: like, [LMDBBackend(path: like), SQLiteBackend(path: like)], .json, output).schema()
      return try SchemaText.schema(Data(output.text.utf8))
    case (nil, "-"?): return try SchemaText.schema(FileHandle.standardInput.readDataToEndOfFile())
    case (nil, let path?):
      guard let json = FileManager.default.contents(atPath: path) else {
        throw InspectionError(.cannotOpen, "\(path) cannot be read.")
      }
      return try SchemaText.schema(json)
    default: throw InspectionError(.usage, "Say the types once: --like or --schema.")
    }
  }
}
