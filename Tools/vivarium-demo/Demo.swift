import Foundation
import StorageInterface
import Vivarium

/// The demo from the first file read to the last line printed.
@MainActor struct Demo {
  let options: StoreOptions
  let keeps: Bool
  let world: any World
  /// The store's file.
  let url: URL
  /// The folder that was made for the file; nil when the file's place was given.
  let folder: URL?

  init(_ options: StoreOptions, keep: Bool) throws {
    self.options = options
    keeps = keep || options.path != nil
    world = try Demo.world(options)
    let name = options.backend == .sqlite ? "demo.sqlite" : "demo.lmdb"
    if let path = options.path {
      folder = nil
      url = URL(fileURLWithPath: path)
      if FileManager.default.fileExists(atPath: path) {
        throw DemoError("\(path) exists: the demo makes a new store and changes no other.")
      }
    } else {
      let folder = FileManager.default.temporaryDirectory.appending(path: "vivarium-demo-\(UUID().uuidString.prefix(8))")
      self.folder = folder
      url = folder.appending(path: name)
    }
  }

  private static func world(_ options: StoreOptions) throws -> any World {
    if options.git != nil, options.packages != nil { throw DemoError("Either --git or --packages, not both.") }
    if let repository = options.git { return HistoryWorld(repository: repository) }
    let path = options.packages ?? DebianStatus.defaultPath
    guard FileManager.default.fileExists(atPath: path) else {
      throw DemoError(
        options.packages == nil
          ? "This machine has no dpkg: name a git repository with --git, for example 'Tools/demo --git .'."
          : "There is no file \(path).")
    }
    return PackageWorld(path: path)
  }

  func run() async throws {
    if let folder { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    defer { if let folder, !keeps { try? FileManager.default.removeItem(at: folder) } }
    let configuration = options.configuration(url)
    let store = try Store(configuration)

    Terminal.heading("A graph of live objects, on \(options.backend.rawValue)")
    try world.fill(store)

    Terminal.heading("Questions")
    try world.ask(store)

    if options.backend == .memory {
      Terminal.heading("Two contexts, one store")
      Terminal.say("  A second process cannot share a store in memory: an actor of this process is the second side.")
      try await together(store, with: SecondContext(type(of: world), configuration))
    } else {
      Terminal.heading("Two processes, one file")
      try await together(store, with: SecondProcess(arguments(of: "second-side")))
    }

    Terminal.heading("The file, without the program that made it")
    try Looking.look(configuration, url, type: options.git == nil ? "Section" : "Author")

    if keeps, options.backend != .memory { Terminal.say("\nThe store is kept at \(url.path)") }
  }

  /// Talks with the second side, watches what it changes, and waits for its end.
  private func together(_ store: Store, with second: some SecondSide) async throws {
    try await second.run {
      let times = try await Conversation.talk(store, as: .first)
      Conversation.report(times, .first)
      try await world.watch(store)
    }
  }

  private func arguments(of command: String) -> [String] {
    var arguments = [command, "--backend", options.backend.rawValue, "--path", url.path]
    if let git = options.git { arguments += ["--git", git] }
    return arguments
  }
}
