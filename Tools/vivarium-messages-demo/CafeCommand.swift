#if Sync
import ArgumentParser
import Foundation
import StoreMessages
import SyncEvents
import SyncServer
import SyncStoreEmbedded
import SyncWebSocket
import Vivarium

/// The server: serves stores, and answers the orders in them.
struct CafeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cafe", shouldDisplay: false)

  @Option var folder: String
  @Flag(help: "Does not come to an end with any order.") var hold = false

  func run() async throws {
    let stores = try EmbeddedServerStore(folder: folder)
    var options = ServerEvents.Options()
    // How long another process waits for one that was killed.
    options.lease = .milliseconds(500)
    options.pause = .milliseconds(50)
    let events = ServerEvents(stores, models: CoffeeOrder.self, Cup.self, options: options)
    let hold = hold
    try await events.answer(store: "/*/orders", CoffeeOrder.self, named: "cafe", outside: { change in
      guard let drink = change.new?.drink, drink != "decaf" else { return { order, _ in order.fail(message: "There is none.") } }
      printLine("brewing \(drink)")
      if hold { for await _ in AsyncStream.makeStream(of: Never.self).stream {} }
      let author = change.author
      return { order, store in
        // The cup and the answer are one transaction.
        try store.add(Cup(drink: drink))
        order.succeed(message: "one \(drink) for \(author)")
      }
    })
    try await events.register()
    let handling = Task { await events.run() }
    defer { handling.cancel() }
    let host = SyncHost(stores: stores, access: OpenAccess())
    let listener = try await WebSocketListener(host: "127.0.0.1", port: 0)
    printLine("\(listener.port)")
    let serving = Task { try await listener.run { transport in await host.serve(transport) } }
    for await _ in inputLines() {}
    serving.cancel()
  }
}

/// A line of output that the other side gets at once.
func printLine(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Lines of the input, read on a thread of their own.
func inputLines() -> AsyncStream<String> {
  let (stream, continuation) = AsyncStream.makeStream(of: String.self)
  Thread.detachNewThread {
    while let line = readLine() { continuation.yield(line) }
    continuation.finish()
  }
  return stream
}
#endif
