import ArgumentParser
import Foundation
import SyncServer

/// Looks whether replication keeps its promise: whatever is cut, killed or slow, nothing is lost and nothing is there twice.
@main struct SyncCheckProgram: AsyncParsableCommand {
  #if Sync
  static let configuration = CommandConfiguration(
    commandName: "sync-check",
    abstract: "Cuts, kills and slows down devices and servers, and looks whether anything was lost or came twice.",
    subcommands: [CheckCommand.self, DeviceCommand.self, ServerCommand.self, HandlerCommand.self], defaultSubcommand: CheckCommand.self)
  #else
  static let configuration = CommandConfiguration(commandName: "sync-check", abstract: "Needs the trait 'Sync'.")
  func run() throws { throw ValidationError("This build speaks no WebSocket: build it with the trait 'Sync'.") }
  #endif
}
