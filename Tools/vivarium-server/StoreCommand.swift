#if Sync
import ArgumentParser
import SyncServer

/// `vivarium-server store …`
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "What the server keeps.", subcommands: [List.self, Remove.self, Renew.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the stores' paths.")
    @OptionGroup var option: PlaceOption
    @Flag(help: "Also those in which the server keeps what it needs itself.") var all = false

    func run() async throws {
      for path in try await option.place.stores() where all || !path.isOfServer { print(path) }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Removes a store and all that is in it, for good.",
      discussion: """
        Of a folder, the server has to be ended before; one that runs removes it by DELETE /admin/v1/stores/PATH. Of a database, servers \
        may run. Devices that have the store keep what they have, with what they have not sent. Where the store is made again, by hand or \
        by a new device, it is another one: they begin anew, and do again what they have not sent.
        """)
    @OptionGroup var option: PlaceOption
    @Flag(help: "No error if it is gone already: for scripts that may be run again.") var ifThere = false
    @Argument var path: String

    func run() async throws {
      guard let path = StorePath(self.path) else { throw Trouble("'\(self.path)' is no path of a store.") }
      guard !path.isOfServer else { throw Trouble("The server itself needs the store '\(path)'.") }
      let ifThere = ifThere
      try await option.place.withStores { stores in
        do { try await stores.removeStore(path) } catch let error as ServerStoreError where ifThere && error.code == .unknownStore {}
      }
    }
  }

  struct Renew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Gives stores that were restored from a copy another history. The server has to be ended before.",
      discussion: """
        Devices begin anew then: they take the stores' objects as they are, and do again only what the server had not acknowledged. What \
        it had acknowledged after the copy was made is lost. Without another history a device may take what others write from now on for \
        what it knows already. What the server's own back-up has made (POST /admin/v1/backup) has another history already.
        """)
    @OptionGroup var option: PlaceOption
    @Argument(help: "Only this store.") var path: String?

    func run() async throws {
      let only = try path.map { text in
        guard let path = StorePath(text) else { throw Trouble("'\(text)' is no path of a store.") }
        return path
      }
      let count = try await option.place.renew(only)
      if only != nil, count == 0 { throw Trouble("There is no store '\(path ?? "")'.") }
      print("\(count) stores")
    }
  }
}
#endif
