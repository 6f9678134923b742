import ArgumentParser
import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite
import Vivarium

enum BackendName: String, CaseIterable, ExpressibleByArgument {
  case lmdb, sqlite, memory
}

/// What the two sides are told alike.
struct StoreOptions: ParsableArguments {
  @Option(help: "Where the data is: lmdb, sqlite or memory.")
  var backend: BackendName = .lmdb

  @Option(help: "The store's file; must not exist. Without it, a new temporary folder is used.")
  var path: String?

  @Option(help: ArgumentHelp("Show this git repository's history instead of the packages.", valueName: "repository"))
  var git: String?

  @Option(help: ArgumentHelp("Read the packages from this file (a dpkg status file or an index of apt).", valueName: "file"))
  var packages: String?
}

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Shows Vivarium at work on what is on this machine.",
    discussion: """
      Reads the installed packages of a Debian or Ubuntu machine, or the history of a git repository, into a graph of \
      live objects; asks it questions; lets a second process change it and shows how the first is told; and looks into \
      the file with 'inspect'.
      """,
    subcommands: [SecondCommand.self])

  @OptionGroup var options: StoreOptions

  @Flag(help: "Keep the file at the end and say where it is.")
  var keep = false

  @MainActor func run() async throws { try await Demo(options, keep: keep).run() }
}

/// The second process of the demo. Nobody but the demo starts it.
struct SecondCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "second-side", shouldDisplay: false)

  @OptionGroup var options: StoreOptions

  @MainActor func run() async throws {
    guard let path = options.path else { throw DemoError("The second side needs the path of a store.") }
    let store = try Store(options.configuration(URL(fileURLWithPath: path)))
    try await Conversation.second(options.world, store)
  }
}

extension StoreOptions {
  var world: any World.Type { git == nil ? PackageWorld.self : HistoryWorld.self }

  func configuration(_ url: URL) -> Store.Configuration {
    let models = world.models
    return switch backend {
    case .lmdb: Store.Configuration(backend: LMDBBackend(path: url.path), models: models)
    case .sqlite: Store.Configuration(backend: SQLiteBackend(path: url.path), models: models)
    case .memory: Store.Configuration(backend: MemoryBackend("demo"), models: models)
    }
  }
}
