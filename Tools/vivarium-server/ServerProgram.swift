import ArgumentParser

/// A server that apps replicate their stores with.
@main struct ServerProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vivarium-server",
    abstract: "A server that apps replicate their stores with. Everything it keeps is in one folder.",
    subcommands: [ServeCommand.self, UserCommand.self, StoreCommand.self])
}

/// Something that cannot be done, as one sentence for the terminal.
struct Trouble: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The folder of a server, and the names in it.
struct FolderOption: ParsableArguments {
  @Option(name: .long, help: "What the server keeps.") var folder: String

  var stores: String { folder + "/stores" }
  var users: String { folder + "/users" }
}
