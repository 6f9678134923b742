import ArgumentParser
import Foundation
import StorageInterface
import StoreInspection

/// `inspect`: looks into any store without the program that made it. The commands themselves are `Inspector`'s.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Looks into a Vivarium store, in use or not, without the program that made it.",
    discussion: """
      Opens for reading alone, but for 'compact' and 'change-key', and shows one version of the store. Exit status: 0 done; 1 the \
      type or object is not there; 2 the arguments make no sense; 3 the store cannot be opened (missing, foreign, damaged, or of a \
      newer format); 4 reading or writing failed; 5 the store has faults; 6 a dry run says that it would fail. What went wrong is \
      one line on standard error.
      """,
    subcommands: [
      Info.self, Schema.self, Count.self, Get.self, Dump.self, Verify.self, Compact.self, Backup.self, Restore.self, Increment.self,
      ChangeKey.self, Salvage.self, Export.self, Import.self, Copy.self, Digest.self, Migrate.self, Sync.self,
    ])

  /// What every command takes.
  struct Target: ParsableArguments {
    @Argument(help: "The store's file.")
    var file: String

    @Option(help: ArgumentHelp("table for people; json, ndjson or csv for programs.", valueName: "format"))
    var format: OutputFormat = .table

    @OptionGroup var keys: KeyOptions
  }

  struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Backend, version, sizes, held versions, types with counts.")
    @OptionGroup var target: Target
    func run() throws { try target.inspector().info() }
  }

  struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "The types with their properties and indexes.")
    @OptionGroup var target: Target
    func run() throws { try target.inspector().schema() }
  }

  struct Count: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "How many objects there are.")
    @OptionGroup var target: Target
    @Argument(help: "Only of this type.") var type: String?
    func run() throws { try target.inspector().count(type) }
  }

  struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "One object, with what links to it.")
    @OptionGroup var target: Target
    @Argument(help: "The object's type.") var type: String
    @Argument(help: "Its primary key, or '#' and its object key. A key that begins with '-' goes after '--'.")
    var key: String
    func run() throws { try target.inspector().get(type, key) }
  }

  struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The objects, in order of insertion, as they are read.")
    @OptionGroup var target: Target
    @Argument(help: "Only of these types.") var types: [String] = []
    @Option(help: "At most so many objects of each type.") var limit: Int?
    func run() throws { try target.inspector().dump(types, limit: limit) }
  }
}

extension InspectCommand {
  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Looks through the whole store for damage: pages, entries, indexes, links, lists, history.")
    @OptionGroup var target: Target
    func run() throws { try target.inspector().verify() }
  }
}

extension InspectCommand {
  struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Gives the store's free space back to the system. Writes the file, not the data.")
    @OptionGroup var target: Target
    func run() throws { try target.inspector(isReadOnly: false).compact(.after(.seconds(60))) }
  }
}

extension OutputFormat: ExpressibleByArgument {}

extension InspectCommand.Target {
  func inspector(isReadOnly: Bool = true) throws(InspectionError) -> Inspector {
    try Self.inspector(of: file, keys.backends(file), format, DescriptorOutput(STDOUT_FILENO), isReadOnly: isReadOnly)
  }

  static func inspector(
    of file: String, _ backends: [any StorageBackend], _ format: OutputFormat, _ output: any TextOutput, isReadOnly: Bool = true
  ) throws(InspectionError) -> Inspector {
    let engine = try StoreFinder.open(file, backends, isReadOnly: isReadOnly)
    return Inspector(engine, location: file, format: format, output: output)
  }
}
