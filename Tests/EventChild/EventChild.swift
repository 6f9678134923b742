import Dispatch
import Foundation
import StorageLMDB
import StoreMessages
import SyncClient
import SyncEvents
import SyncModel
import SyncProtocol
import SyncServer
import SyncStoreEmbedded
import Vivarium

/// A server's process, over a folder, that dies where it is told to; and a device of it, which lives in the same process and keeps a file:
///
///     event-child register FOLDER               makes the handler known, before there is a store with anything to answer
///     event-child ask FOLDER FILE COUNT         a device asks so many questions, a transaction each; ends when the server has them
///     event-child answer FOLDER LIFE [DEATH]    answers until nothing waits, and says which questions it begins; dies when it comes to a
///                                               point (`Fuse`) for the n-th time, or waits for ever with a question (`hang`)
///     event-child read FOLDER FILE              a device receives what the server has: a line for each question
///
/// LIFE is how many processes have answered before. The clock of each is ahead of the one's before it by more than a lease, so that none
/// waits for one that has died, however long a lease is.
@main struct EventChild {
  private static let path = "/shared/questions"

  @MainActor static func main() async throws {
    // A fault ends it in another way than what it does when it is told to die.
    DispatchQueue.global().asyncAfter(deadline: .now() + 300) { exit(4) }
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { exit(2) }
    let stores = try EmbeddedServerStore(folder: arguments[2])
    switch (arguments[1], arguments.count) {
    case ("register", 3): try await handler(of: stores, Fuse(nil), life: 0).register()
    case ("ask", 5): try await ask(Int(arguments[4]) ?? 0, arguments[3], stores)
    case ("answer", 4): try await answer(stores, life: Int64(arguments[3]) ?? 0, nil)
    case ("answer", 5): try await answer(stores, life: Int64(arguments[3]) ?? 0, arguments[4])
    case ("read", 4): try await read(arguments[3], stores)
    default: exit(2)
    }
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

  // MARK: a device

  @MainActor private static func device(_ file: String, _ stores: EmbeddedServerStore) throws -> Store {
    var configuration = Store.Configuration.lmdb(URL(fileURLWithPath: file), models: Question.self, Reply.self)
    let host = SyncHost(stores: stores, access: OpenAccess())
    configuration.sync = SyncConfiguration(user: FixedToken("ann"), path: path, connector: HostConnector(host: host))
    return try Store(configuration)
  }

  @MainActor private static func ask(_ count: Int, _ file: String, _ stores: EmbeddedServerStore) async throws {
    let store = try device(file, stores)
    for number in 0..<count { try store.write { _ = try store.create(Question.self, value: ["number": number]) } }
    try await store.sync?.uploaded()
    await store.sync?.stop()
  }

  @MainActor private static func read(_ file: String, _ stores: EmbeddedServerStore) async throws {
    let store = try device(file, stores)
    try await store.sync?.downloaded()
    store.refresh()
    for question in store.objects(Question.self).sorted(by: \.number) {
      let replies = store.objects(Reply.self).filter { $0.question == question.number }.count
      say("\(question.number) \(question.status) \(question.answers) \(replies)")
    }
    await store.sync?.stop()
  }

  // MARK: the handler

  private static func handler(
    of stores: any SyncServerStore, _ fuse: Fuse, life: Int64, hangs: Bool = false
  ) async throws -> ServerEvents {
    var options = ServerEvents.Options()
    (options.lease, options.pause) = (.seconds(60), .milliseconds(20))
    let events = ServerEvents(stores, models: Question.self, Reply.self, options: options) {
      Int64(Date().timeIntervalSince1970 * 1_000) + life * 61_000
    }
    try await events.answer(store: path, Question.self, named: "answers", outside: { change in
      say("begun \(change.new?.number ?? -1)")
      fuse.reached(.begun)
      if hangs { for await _ in AsyncStream.makeStream(of: Never.self).stream {} }
      return { question, store in
        question.increment(\.answers)
        try store.add(Reply(question: question.number))
        fuse.reached(.written)
      }
    })
    return events
  }

  /// Handles events until all that the log has is done.
  private static func answer(_ stores: EmbeddedServerStore, life: Int64, _ death: String?) async throws {
    let fuse = Fuse(death)
    let events = try await handler(of: MortalStores(base: stores, fuse: fuse), fuse, life: life, hangs: death == "hang")
    let notices = events.notices()
    let running = Task { await events.run() }
    for await notice in notices {
      guard case .dealt(_, let store, let number) = notice, store.text == path else { continue }
      if let head = try await stores.heads([store])[store], number >= head.rawValue { break }
    }
    running.cancel()
    await running.value
  }
}

/// Reaches a server in the same process.
private struct HostConnector: SyncConnector {
  let host: SyncHost

  func connect() async throws(TransportError) -> any SyncTransport {
    let (here, there) = MemoryTransport.pair()
    Task { await host.serve(there) }
    return here
  }
}
