import Dispatch
import Foundation
import MessageSamples
import StoreMessages
import Testing
import Vivarium
import VivariumTestSupport

/// Two and more processes, some of which die in the middle. `VIVARIUM_MESSAGE_KILLS` says how many must.
@Suite(.serialized) struct ProcessTests {
  private let kills = environmentNumber("VIVARIUM_MESSAGE_KILLS", default: 10)

  private func store(_ folder: TemporaryDirectory) throws -> (Store, String) {
    let path = folder.file("messages.lmdb").path
    return (try Store(Samples.configuration(path), isolation: nil), path)
  }

  private func expectEachDoneOnce(_ store: Store, _ numbers: Range<Int>, by names: [String] = ["work"]) {
    store.refresh()
    #expect(Samples.pendingCount(store) == 0)
    for name in names {
      let deeds = Samples.deeds(of: name, in: store)
      #expect(deeds.map(\.number).sorted() == Array(numbers), "\(name)")
      #expect(deeds.allSatisfy { $0.times == 1 }, "\(name)")
    }
    #expect(store.objects(Deed.self).count == names.count * numbers.count)
    #expect(store.objects(MessageReceipt.self).allSatisfy { $0.owed == "" })
    #expect(store.objects(Work.self).allSatisfy { $0.status == .success && $0.answer == $0.number * 2 })
  }

  private static let names = ["ledger", "mail"]

  /// Runs children of two names in any order until nothing waits and enough of them were killed, sending more where need be; gives how
  /// many were.
  private func run(_ store: Store, _ mode: String, _ path: String, _ extra: [String] = []) throws -> (killed: Int, sent: Int) {
    var random = SeededGenerator.forTest(mode)
    var (killed, sent) = (0, 0)
    // They find nothing, and are known from then on.
    for name in Self.names { #expect(try Child([mode, path, "0", "0", name] + extra).ended()) }
    while killed < kills {
      try store.write { for number in sent..<sent + 10 { try store.add(Work(number: number, group: "\(number % 3)")) } }
      sent += 10
      var open = Self.names
      while !open.isEmpty {
        let (at, seed) = (random.below(open.count), random.below(1_000_000))
        let child = try Child([mode, path, "\(seed)", killed < kills ? "12" : "0", open[at]] + extra)
        if child.ended() { open.remove(at: at) } else { killed += 1 }
      }
    }
    return (killed, sent)
  }

  @Test func everyMessageIsDoneOnceThoughHandlersAreKilled() throws {
    let folder = TemporaryDirectory()
    let (store, path) = try store(folder)
    let (killed, sent) = try run(store, "inside", path)
    #expect(killed >= kills)
    expectEachDoneOnce(store, 0..<sent, by: Self.names)
    // Each name did the messages of a group in the order in which they were sent.
    for name in Self.names {
      for group in 0..<3 {
        let deeds = Samples.deeds(of: name, in: store).filter { $0.number % 3 == group }.sorted { $0.number < $1.number }
        #expect(deeds.map(\.place) == deeds.map(\.place).sorted(), "\(name) \(group)")
      }
    }
  }

  @Test func workOutsideIsRepeatedUnderOneKeyAndWrittenOnce() throws {
    let folder = TemporaryDirectory()
    let (store, path) = try store(folder)
    let log = folder.file("outside.log").path
    let (_, sent) = try run(store, "outside", path, [log])
    expectEachDoneOnce(store, 0..<sent, by: Self.names)
    let keys = Set(try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n"))
    // A name's key is not the other's.
    #expect(keys.count == sent * Self.names.count)
  }

  @Test func aMessageThatKillsItsHandlersEndsAsADeadLetter() throws {
    let folder = TemporaryDirectory()
    let (store, path) = try store(folder)
    try store.write { for number in 0..<6 { try store.add(Work(number: number)) } }
    var killed = 0
    while killed < 20, !(try Child(["poison", path, "3", "work"]).ended()) { killed += 1 }
    store.refresh()
    // The first death is what makes the next handler careful; from then on each is counted.
    #expect(killed == 4)
    let dead = try #require(store.object(Work.self, forPrimaryKey: 3))
    #expect(dead.status == .error && dead.answer == 0 && dead.statusMessage != nil)
    #expect(store.objects(Effect.self).map(\.number) == [0, 1, 2, 4, 5])
    #expect(store.objects(Effect.self).allSatisfy { $0.times == 1 } && Samples.pendingCount(store) == 0)
    // Nobody runs any more, and nobody is waited for.
    #expect(
      store.objects(MessageReceipt.self).allSatisfy { $0.message.hasPrefix("Work-") || $0.state == .running || $0.state == .registered })
  }

  @Test func aMessageThatAnotherNameHasAnsweredAndThatKillsEndsToo() throws {
    let folder = TemporaryDirectory()
    let (store, path) = try store(folder)
    // It finds nothing, and is known from then on.
    #expect(try Child(["poison", path, "3", "b"]).ended())
    let changed = Signal()
    let queue = DispatchQueue(label: "watch")
    let watcher = try queue.sync { try Watcher(Samples.configuration(path), queue, changed) }
    let answering = try MessageHandler.handle(Work.self, named: "a", in: Samples.configuration(path)) { work, _ in work.succeed() }
    try store.write { for number in 0..<6 { try store.add(Work(number: number)) } }
    #expect(
      changed.wait {
        store.refresh()
        return Samples.pendingCount(store) == 0
      })
    answering.stop()
    queue.sync { watcher.end() }
    var killed = 0
    while killed < 20, !(try Child(["poison", path, "3", "b"]).ended()) { killed += 1 }
    store.refresh()
    // As many as if it were pending.
    #expect(killed == 4)
    let poison = try #require(store.object(Work.self, forPrimaryKey: 3))
    // The answer of the other name stays.
    #expect(poison.status == .success && poison.answer == 0)
    let dead = Array(store.objects(MessageReceipt.self).filter { $0.state == .dead })
    #expect(dead.map(\.message) == [poison.objectIdentifier] && dead.allSatisfy { $0.id.hasPrefix("b/") && $0.attempts == 3 })
    #expect(store.objects(Effect.self).map(\.number) == [0, 1, 2, 4, 5])
    #expect(store.objects(MessageReceipt.self).allSatisfy { $0.owed == "" })
  }

  @Test func severalProcessesShareTheWork() throws {
    let folder = TemporaryDirectory()
    let (store, path) = try store(folder)
    try store.write { for number in 0..<60 { try store.add(Work(number: number, group: "\(number % 3)")) } }
    let children = try (0..<3).map { try Child(["inside", path, "\($0)", "0", "work"]) }
    for child in children { #expect(child.ended()) }
    expectEachDoneOnce(store, 0..<60)
  }

  @Test func aMessageOutlivesItsSender() throws {
    let folder = TemporaryDirectory()
    let (store, path) = try store(folder)
    #expect(!(try Child(["send", path, "0", "5"]).ended()))
    store.refresh()
    #expect(Samples.pendingCount(store) == 5)
    #expect(try Child(["inside", path, "1", "0", "work"]).ended())
    expectEachDoneOnce(store, 0..<5)
  }

  @MainActor @Test func aRequestIsAnsweredByAnotherProcessOnTheSameObject() async throws {
    let folder = TemporaryDirectory()
    let path = folder.file("messages.lmdb").path
    let store = try Store(Samples.configuration(path))
    try store.write { try store.add(Work(number: 1)) }
    let child = try Child(["inside", path, "1", "0", "work"])
    let work = try await store.send(Work(number: 2), timeout: .seconds(600))
    #expect(work.status == .success && work.answer == 4)
    await elsewhere { _ = child.ended() }
  }

  @MainActor @Test func theSenderIsToldByItsObject() async throws {
    let folder = TemporaryDirectory()
    let path = folder.file("messages.lmdb").path
    let store = try Store(Samples.configuration(path))
    let request = Work(number: 5)
    try store.write { try store.add(request) }
    let told = AsyncStream<[String]>.makeStream()
    let token = request.observe { change in
      if case .change(let properties) = change { told.continuation.yield(properties.map(\.name)) }
    }
    let child = try Child(["inside", path, "1", "0", "work"])
    for await names in told.stream {
      #expect(names.contains("status") && names.contains("answer"))
      break
    }
    #expect(request.status == .success && request.answer == 10)
    token.stop()
    await elsewhere { _ = child.ended() }
  }
}

extension Child: @unchecked Sendable {
  // Sound because a test hands it over whole, and nobody else has it.
}
