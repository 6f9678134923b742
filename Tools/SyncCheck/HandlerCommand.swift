#if Sync
import ArgumentParser
import Foundation
import StoreMessages
import SyncClient
import SyncEvents
import SyncServer
import SyncWebSocket
import Vivarium

/// What a handler has heard of each device, in the order in which it heard it.
@Model final class Heard {
  @PrimaryKey var device = ""
  var numbers: LiveList<Int>
}

/// A handler of events beside its servers, as a process of its own that can be killed.
struct HandlerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "handler", shouldDisplay: false)

  @Option(help: "Where the stores are, if it opens them itself.") var store = ServerHome.postgres
  @Option(help: "The address of a database.") var place: String?
  @Option(help: "A server that has them.") var url: String?
  @Option(help: "Dies when it comes to a point for the n-th time: 'after-advance:2'.") var dieAt: String?

  func run() async throws {
    let events = try await HandlerCommand.events(of: try await stores(dieAt.flatMap(Fuse.init)))
    try await events.register()
    printLine("handles")
    await events.run()
  }

  private func stores(_ fuse: Fuse?) async throws -> any EventStores {
    guard let url else { return try await store.open(place ?? "", fuse: fuse) }
    let stores = RemoteEventStores(try WebSocketConnector(url), credentials: FixedToken("handlers"), name: "sync-check")
    return fuse.map { MortalEventStores(events: stores, fuse: $0) } ?? stores
  }

  /// A handler that notes the number of each write of each device, and one that answers each question.
  static func events(of stores: any EventStores) async throws -> ServerEvents {
    var options = ServerEvents.Options()
    (options.lease, options.pause, options.firstDelay) = (.milliseconds(300), .milliseconds(20), .milliseconds(5))
    let events = ServerEvents(stores, models: Tally.self, Heard.self, Question.self, options: options)
    // What keeps it from its work is seen where the check is run.
    let notices = events.notices()
    Task {
      for await notice in notices {
        if case .dealt = notice { continue }
        FileHandle.standardError.write(Data("\(notice)\n".utf8))
      }
    }
    // Not of other checks' stores: in one database, these would wait for handlers that nobody runs any more before they forget anything.
    try await events.on(store: "/*/heard", Tally.self, named: "hearing") { change, store in
      guard let tally = change.new else { return }
      let heard = try store.object(Heard.self, forPrimaryKey: tally.device) ?? store.create(Heard.self, value: ["device": tally.device])
      heard.numbers.append(tally.count)
    }
    try await events.answer(store: "/*/heard", Question.self, named: "answering") { question, _, _ in
      question.answer = question.number * 2
      question.increment(\.times)
    }
    return events
  }
}
#endif
