#if Sync
import ArgumentParser
import SyncServer

/// `vivarium-server store …`
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "What the server keeps.", subcommands: [List.self, Remove.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the stores' paths.")
    @OptionGroup var option: PlaceOption

    func run() async throws { for path in try await option.place.stores() { print(path) } }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a store and all that is in it, for good. The server has to be ended before.",
      discussion: "Devices that have the store keep what is theirs, and begin anew where somebody makes the store again.")
    @OptionGroup var option: PlaceOption
    @Argument var path: String

    func run() async throws {
      guard let path = StorePath(self.path) else { throw Trouble("'\(self.path)' is no path of a store.") }
      try await option.place.remove(path)
    }
  }
}
#endif
