import ArgumentParser
import Foundation
import SyncServer
import SyncStoreEmbedded

/// `vivarium-server user …`
struct UserCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Who may use the server. Works while it runs.", subcommands: [Add.self, List.self, Remove.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Adds a user, or gives one another token, and prints the token. Who has it is the user.")
    @OptionGroup var place: FolderOption
    @Argument var name: String

    func run() throws {
      try FileManager.default.createDirectory(
        atPath: place.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
      print(try TokenFile(path: place.users).add(name))
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the users' names.")
    @OptionGroup var place: FolderOption

    func run() throws { for user in try TokenFile(path: place.users).users() { print(user) } }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lets a user in no more. Connections that there are go on.")
    @OptionGroup var place: FolderOption
    @Argument var name: String

    func run() throws {
      guard try TokenFile(path: place.users).remove(name) else { throw Trouble("There is no user '\(name)'.") }
    }
  }
}

/// `vivarium-server store …`
struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "What the server keeps.", subcommands: [List.self])

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the stores' paths.")
    @OptionGroup var place: FolderOption

    func run() throws { for path in EmbeddedServerStore.stores(inFolder: place.stores) { print(path) } }
  }
}
