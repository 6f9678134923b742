#if Sync
import ArgumentParser
import SyncServer

/// `vivarium-server grant …`
struct GrantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "grant", abstract: "Who may do what in which store. Works while the server runs, which hears of it within a second.",
    discussion: "Everybody may do everything in the stores below his own name, and an administrator everywhere. All else is given here.",
    subcommands: [Give.self, List.self])

  struct Give: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "give", abstract: "Gives a right in place of the one that there was.")
    @OptionGroup var option: PlaceOption
    @Argument(help: "A user, or '*' for everybody who is let in.") var user: String
    @Argument(help: "'/shared/shop', or '/shared/*' for all below.") var path: String
    @Argument(help: "Letters of 'rwm': read, write, make and manage; 'none' takes it away.") var rights: String

    func run() async throws {
      guard let grant = GrantRecord(user: user, path: path, rights: rights) else {
        throw Trouble("A right is a user or '*', a path like '/shared/shop' or '/shared/*', and letters of 'rwm', or 'none'.")
      }
      let place = try option.place
      try await place.make()
      try await place.withDirectory { try await $0.put(grant) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints what was given.")
    @OptionGroup var option: PlaceOption

    func run() async throws {
      let grants = try await option.place.withDirectory { try await $0.grants() }
      for grant in grants { print("\(grant.user) \(grant.path) \(grant.rights.short)") }
    }
  }
}
#endif
