import ArgumentParser

/// A server that apps replicate their stores with.
@main struct ServerProgram: AsyncParsableCommand {
  #if Sync
  static let configuration = CommandConfiguration(
    commandName: "vivarium-server",
    abstract: "A server that apps replicate their stores with. Everything it keeps is in one folder.",
    subcommands: [ServeCommand.self, UserCommand.self, GrantCommand.self, StoreCommand.self, HandlerCommand.self, ExportCommand.self])
  #else
  static let configuration = CommandConfiguration(commandName: "vivarium-server")

  func run() async throws { throw Trouble("This build speaks to no network: build it with the trait 'Sync'.") }
  #endif
}

/// Something that cannot be done, as one sentence for the terminal.
struct Trouble: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
