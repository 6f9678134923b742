import Foundation
import Vivarium

/// Who the demo talks with.
@MainActor protocol SecondSide {
  /// Starts the second side, runs `first`, and waits until both are done. When the second side ends badly, `first` is
  /// cancelled.
  func run(_ first: @escaping @MainActor () async throws -> Void) async throws
}

/// How long the two sides have: far more than they need.
private let patience = Duration.seconds(60)

/// This program once more, in a process of its own.
@MainActor struct SecondProcess: SecondSide {
  let arguments: [String]

  init(_ arguments: [String]) { self.arguments = arguments }

  func run(_ first: @escaping @MainActor () async throws -> Void) async throws {
    let conversation = Task { @MainActor in try await first() }
    let process = Process()
    process.executableURL = try Demo.executable()
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let ended = AsyncStream<Int32>.makeStream()
    process.terminationHandler = { process in
      if process.terminationStatus != 0 { conversation.cancel() }
      ended.continuation.yield(process.terminationStatus)
      ended.continuation.finish()
    }
    do { try process.run() } catch {
      conversation.cancel()
      throw DemoError("The second process cannot be started: \(error.localizedDescription)")
    }
    Terminal.say("  first:  process \(ProcessInfo.processInfo.processIdentifier)")
    Terminal.say("  second: process \(process.processIdentifier)")
    let watchdog = Task {
      try await Task.sleep(for: patience)
      process.terminate()
      conversation.cancel()
    }
    defer { watchdog.cancel() }
    let result = await conversation.result
    for await status in ended.stream where status != 0 {
      throw DemoError("The second process ended with status \(status).")
    }
    try result.get()
  }
}

/// An actor of this process, with a store of its own on the same data.
struct SecondContext: SecondSide {
  let world: any World.Type
  let configuration: Store.Configuration

  init(_ world: any World.Type, _ configuration: Store.Configuration) {
    self.world = world
    self.configuration = configuration
  }

  func run(_ first: @escaping @MainActor () async throws -> Void) async throws {
    let conversation = Task { @MainActor in try await first() }
    let other = Task {
      do { try await Other().run(world, configuration) } catch {
        conversation.cancel()
        throw error
      }
    }
    let watchdog = Task {
      try await Task.sleep(for: patience)
      other.cancel()
      conversation.cancel()
    }
    defer { watchdog.cancel() }
    let result = await conversation.result
    try await other.value
    try result.get()
  }

  private actor Other {
    func run(_ world: any World.Type, _ configuration: Store.Configuration) async throws {
      let store = try await Store.open(configuration)
      try await Conversation.second(world, store)
    }
  }
}
