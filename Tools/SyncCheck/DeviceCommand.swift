#if Sync
import ArgumentParser
import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import SyncClient
import SyncProtocol
import SyncWebSocket
import Synchronization
import Vivarium

/// One device, as a process of its own that can be killed: writes, replicates, and says what it has.
///
/// It says `wrote N` once its N-th write has returned. `finish` on its input has it write no more and say `finished` when the
/// server has everything; `show` has it take in what the server has and say `picture …`; `why` has it say what happened to its
/// replicator last; the end of the input ends it.
struct DeviceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "device", shouldDisplay: false)

  @Option var url: String
  @Option var name: String
  @Option var path: String
  @Option var file: String
  @Option var seed: UInt64
  @Option(help: "lmdb or sqlite") var engine = "lmdb"
  @Option(help: "Milliseconds between writes, at most.") var pause = 20
  @Flag(help: "Asks a question with each write.") var asks = false
  @Flag(help: "Goes to a server that is not on loopback: the network is the check's own.") var allowsPlainText = false
  @Option(help: "Kills itself before the N-th thing that it sends or receives is passed on.") var dieBefore: Int?
  @Option(help: "Kills itself after the N-th thing that it sends or receives was passed on.") var dieAfter: Int?
  @Option(help: "Kills itself when its replicator comes to a point for the n-th time: 'after-take:1'.") var dieAt: String?
  @Flag(help: "Writes nothing before it has what the server has.") var waits = false
  @Option(help: "Only writes so many things, in a file that is not replicated yet, and ends.") var alone: Int?
  @Flag(help: "Brings what its file has from then.") var adopts = false

  @MainActor func run() async throws {
    if let alone { return try writeAlone(alone) }
    let fuse = dieAt.flatMap(Fuse.init)
    let pages = fuse.map { _ in PagesSeen() }
    var configuration = place
    if let fuse, let pages { configuration.backend = configuration.backend.dying(by: fuse, pages) }
    let store = try Store.checked(configuration, SyncConfiguration(existing: adopts ? .merge : .refuse))
    var options = Replicator.Options()
    options.firstDelay = .milliseconds(20)
    options.longestDelay = .milliseconds(200)
    let base = try WebSocketConnector(self.url, allowsPlainText: allowsPlainText)
    let connector = MortalConnector(base: base, before: dieBefore, after: dieAfter, pages: pages)
    let replicator = store.replicator(path: path, connector: connector, credentials: FixedToken(name), options: options)
    let notices = await replicator.notices()
    let lately = Mutex<[String]>([])
    let listening = Task {
      for await notice in notices { lately.withLock { $0 = $0.suffix(30) + ["\(notice)"] } }
    }
    defer { listening.cancel() }
    await replicator.start()
    let (name, pause, seed, asks, waits) = (name, pause, seed, asks, waits)
    let writing = Task { @MainActor in
      if waits {
        // It may be to finish before that.
        do { try await replicator.downloaded() } catch { return }
      }
      var random = SplitMix(state: seed)
      while !Task.isCancelled {
        printLine("wrote \(try store.writeSomething(name, asks: asks, &random))")
        do { try await Task.sleep(for: .milliseconds(Int.random(in: 0...max(0, pause), using: &random))) } catch {
          // It is to finish.
        }
      }
    }
    for await order in DeviceCommand.orders() {
      switch order {
      case "finish":
        writing.cancel()
        try await writing.value
        Task {
          try await replicator.uploaded()
          printLine("finished")
        }
      case "show":
        Task {
          try await replicator.downloaded()
          printLine("picture \(try JSONEncoder().encode(store.picture).base64EncodedString())")
        }
      case "why": printLine("why \(await replicator.state), \(lately.withLock { $0 })")
      default: throw ValidationError("There is no order '\(order)'.")
      }
    }
    await replicator.stop()
  }

  /// Where its file is, and of which kind.
  private var place: Store.Configuration {
    let url = URL(fileURLWithPath: file)
    return engine == "sqlite" ? .sqlite(url, models: Tally.self) : .lmdb(url, models: Tally.self)
  }

  /// Writes as an app does that knows of no server yet.
  @MainActor private func writeAlone(_ count: Int) throws {
    let store = try Store.checked(place, nil)
    var random = SplitMix(state: seed)
    for _ in 0..<count { _ = try store.writeSomething(name, &random) }
  }

  /// Lines of the input, read on a thread of their own.
  private static func orders() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return stream
  }
}

/// The same numbers again for the same beginning: splitmix64.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
#endif
