import ArgumentParser

/// The demonstration of objects as messages over sync, and the programs that it starts.
@main struct MessagesProgram: AsyncParsableCommand {
  #if Sync
  static let configuration = CommandConfiguration(
    commandName: "demo messages", abstract: MessagesDemo.configuration.abstract,
    subcommands: [MessagesDemo.self, CafeCommand.self, PhoneCommand.self], defaultSubcommand: MessagesDemo.self)
  #else
  static let configuration = CommandConfiguration(commandName: "demo messages", abstract: "Needs the trait 'Sync'.")
  func run() throws { throw ValidationError("This build speaks no WebSocket: build it with the trait 'Sync'.") }
  #endif
}
