#if Sync
import ArgumentParser
import Foundation
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
  @Option(help: "Kills itself before the N-th thing that it sends or receives is passed on.") var dieBefore: Int?
  @Option(help: "Kills itself after the N-th thing that it sends or receives was passed on.") var dieAfter: Int?

  @MainActor func run() async throws {
    let url = URL(fileURLWithPath: file)
    let store = try Store.checked(engine == "sqlite" ? .sqlite(url, models: Tally.self) : .lmdb(url, models: Tally.self))
    var options = Replicator.Options()
    options.firstDelay = .milliseconds(20)
    options.longestDelay = .milliseconds(200)
    let connector = MortalConnector(base: try WebSocketConnector(self.url), before: dieBefore, after: dieAfter)
    let replicator = store.replicator(path: path, connector: connector, credentials: FixedToken(name), options: options)
    let notices = await replicator.notices()
    let lately = Mutex<[String]>([])
    let listening = Task {
      for await notice in notices { lately.withLock { $0 = $0.suffix(30) + ["\(notice)"] } }
    }
    defer { listening.cancel() }
    await replicator.start()
    let (name, pause, seed, asks) = (name, pause, seed, asks)
    let writing = Task { @MainActor in
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

/// Counts what goes over its connections, and kills the process at one of them.
final class MortalConnector: SyncConnector {
  private let base: WebSocketConnector
  private let before: Int?
  private let after: Int?
  private let passed = Mutex(0)

  init(base: WebSocketConnector, before: Int?, after: Int?) { (self.base, self.before, self.after) = (base, before, after) }

  func connect() async throws(TransportError) -> any SyncTransport { MortalTransport(try await base.connect(), self) }

  func coming() -> Int {
    let number = passed.withLock { number in
      number += 1
      return number
    }
    if number == before { kill(getpid(), SIGKILL) }
    return number
  }

  func over(_ number: Int) { if number == after { kill(getpid(), SIGKILL) } }
}

private struct MortalTransport: SyncTransport {
  let base: any SyncTransport
  let connector: MortalConnector

  init(_ base: any SyncTransport, _ connector: MortalConnector) { (self.base, self.connector) = (base, connector) }

  func receive() async throws(TransportError) -> [UInt8]? {
    let part = try await base.receive()
    // What follows from a part is done by the time the next one is asked for.
    connector.over(connector.coming() - 1)
    return part
  }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    let number = connector.coming()
    try await base.send(parts)
    connector.over(number)
  }

  func close() async { await base.close() }
}
#endif
