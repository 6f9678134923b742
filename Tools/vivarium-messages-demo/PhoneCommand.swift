#if Sync
import ArgumentParser
import Foundation
import StorageLMDB
import StoreMessages
import SyncClient
import SyncWebSocket
import Vivarium

/// The phone: it writes orders, and knows no more of the server than its store.
///
/// `order DRINK` adds an order; an ordinary observer prints those that have an answer. `waiting` prints those that have none, `cups` what
/// the server has written beside its answers. The end of the input ends it.
struct PhoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "phone", shouldDisplay: false)

  @Option var file: String
  @Option var url: String

  @MainActor func run() async throws {
    var configuration = Store.Configuration.lmdb(URL(fileURLWithPath: file), models: CoffeeOrder.self, Cup.self)
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: "/~/orders", connector: try WebSocketConnector(url))
    // A wire that is mended is noticed soon: the demonstration is short.
    configuration.sync?.options.firstDelay = .milliseconds(100)
    configuration.sync?.options.longestDelay = .milliseconds(200)
    let store = try Store(configuration)
    let orders = store.objects(CoffeeOrder.self)
    var told: Set<UUID> = []
    let token = orders.observe { _ in
      for order in orders where order.status != .notProcessed && told.insert(order.id).inserted {
        printLine("\(order.drink): \(order.status), \(order.statusMessage ?? "")")
      }
    }
    for await command in inputLines() {
      if command.hasPrefix("order ") {
        try store.write { _ = try store.create(CoffeeOrder.self, value: ["drink": String(command.dropFirst(6))]) }
      } else if command == "waiting" {
        for order in orders where order.status == .notProcessed { printLine("\(order.drink): \(order.status)") }
      } else {
        printLine("cups: \(store.objects(Cup.self).map(\.drink).sorted().joined(separator: ", "))")
      }
    }
    token.stop()
    await store.sync?.stop()
  }
}
#endif
