#if Sync
import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncWebSocket
import Vivarium

/// A process with a handler of events is killed again and again while a device writes, at random moments and at each point of its work; in
/// the end the handler has heard of each write once, and in their order, and each question that the device asked has one answer.
///
/// In a folder the server runs the handler and is killed with it, or the handler is a process of its own with a connection to the server,
/// which is killed now and then too. Over a database the handler is a process of its own.
@MainActor struct HandlerKills {
  let home: ServerHome
  /// Whether the handler is a process of its own with a connection to the server.
  var isApart = false
  let database: String?
  var kills: Int
  let report: Report
  var random: SplitMix

  private static let path = "/shared/heard"
  private static let device = "writer"
  /// One of so many kills is at a point.
  private static let pointEvery = 3
  /// Milliseconds between the device's writes. Each keeps the lists that it touches, as they were, for the handler: with many more of them
  /// than are handled in between, the check is one of memory.
  private static let pause = "12"
  /// With one of so many kills of a handler apart its server is killed too.
  private static let serverEvery = 10
  private var handlesItself: Bool { home != .postgres && !isApart }

  mutating func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sync-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = database ?? folder.appending(path: "server").path
    let wire = try await Wire(to: 1)
    var server = try await start(place, wire)
    var handler = handlesItself ? nil : try startHandler(place, wire)
    _ = await handler?.line("handles")
    let writer = try ChildProcess(
      [
        "device", "--url", "ws://127.0.0.1:\(wire.port)", "--name", HandlerKills.device, "--path", HandlerKills.path, "--file",
        folder.appending(path: "device").path, "--seed", "\(random.next() as UInt64)", "--pause", HandlerKills.pause, "--asks",
      ], remembered: ["wrote"])
    for number in 1...max(1, kills) {
      if let point = pointOfDeath(number) {
        await seeDead(handler ?? server, at: point)
      } else {
        // From the first moments of its life to when it has long been at work.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<120, using: &random)))
      }
      let dying = ending(of: number + 1)
      if !handlesItself {
        if isApart, number % HandlerKills.serverEvery == HandlerKills.serverEvery / 2 {
          // The handler lives on.
          server.killNow()
          server = try await start(place, wire)
          report.count("servers of handlers killed", 1)
        }
        handler?.killNow()
        if isApart, number.isMultiple(of: HandlerKills.serverEvery) {
          server.killNow()
          server = try await start(place, wire)
          report.count("servers of handlers killed", 1)
        }
        handler = try startHandler(place, wire, dying)
      } else {
        server.killNow()
        server = try await start(place, wire, dying)
      }
      if number.isMultiple(of: 100) { report.say("\(number) kills of the handler, \(writer.newest("wrote") ?? "nothing written")") }
    }
    report.count(isApart ? "handlers apart killed" : "handlers killed", kills)
    writer.order("finish")
    if await within(.seconds(120), { _ = await writer.line("finished") }) == false {
      report.violation("the writer could not send everything")
    }
    try await judge(wire)
    for process in [server, handler, writer] { process?.killNow() }
    await wire.end()
  }

  // MARK: processes

  private func start(_ place: String, _ wire: Wire, _ dying: [String] = []) async throws -> ChildProcess {
    let handling = handlesItself ? ["--handles"] : []
    let process = try ChildProcess(["server", "--store", home.rawValue, "--place", place] + handling + dying)
    if let line = await process.line("port "), let port = Int(line.dropFirst(5)) {
      wire.lead(to: port)
    } else if dying.isEmpty {
      throw CheckFailed("The server did not start.")
    }
    // One that dies at a point may be there before it listens.
    return process
  }

  private func startHandler(_ place: String, _ wire: Wire, _ dying: [String] = []) throws -> ChildProcess {
    let stores = isApart ? ["--url", "ws://127.0.0.1:\(wire.port)"] : ["--store", home.rawValue, "--place", place]
    return try ChildProcess(["handler"] + stores + dying)
  }

  /// The point at which a process has to die, all of them in turn; nil if it is killed at a random moment, or not any more.
  private func pointOfDeath(_ kill: Int) -> String? {
    guard kill <= kills, kill.isMultiple(of: HandlerKills.pointEvery) else { return nil }
    return Fuse.handlerPoints[(kill / HandlerKills.pointEvery - 1) % Fuse.handlerPoints.count]
  }

  /// How a process is told its point.
  private mutating func ending(of kill: Int) -> [String] {
    guard let point = pointOfDeath(kill) else { return [] }
    return ["--die-at", "\(point):\(Int.random(in: 1...2, using: &random))"]
  }

  /// Waits until a process has killed itself at its point.
  private func seeDead(_ process: ChildProcess, at point: String) async {
    let timer = Task { [report] in
      do { try await Task.sleep(for: .seconds(30)) } catch { return }
      report.violation("who handles events did not come to the point '\(point)'")
      // Who waits for its end then sees it.
      process.killNow()
    }
    _ = await process.line("a line that it does not write")
    timer.cancel()
    report.count("handlers that died at a point", 1)
  }

  // MARK: judging

  /// Waits until the handlers have dealt with the last write, or nothing more comes.
  private func judge(_ wire: Wire) async throws {
    var configuration = Store.Configuration.memory(UUID().uuidString, models: Tally.self, Heard.self, Question.self)
    configuration.replicate()
    let store = try Store(configuration)
    let replicator = store.replicator(
      path: HandlerKills.path, connector: try WebSocketConnector("ws://127.0.0.1:\(wire.port)"), credentials: FixedToken("judge"))
    await replicator.start()
    try await replicator.downloaded()
    store.refresh()
    let entries = store.object(Tally.self, forPrimaryKey: HandlerKills.device)?.entries.count ?? 0
    let (news, continuation) = AsyncStream.makeStream(of: Dealt.self)
    func look() {
      let heard = store.object(Heard.self, forPrimaryKey: HandlerKills.device).map { Array($0.numbers) } ?? []
      continuation.yield(Dealt(heard: heard, open: store.objects(Question.self).where { $0.status == .notProcessed }.count))
    }
    let token = store.observe { _, _ in look() }
    look()
    // From the last news on: how long all of it takes is nobody's fault.
    func patience() -> Task<Void, Never> {
      Task {
        do { try await Task.sleep(for: .seconds(120)) } catch { return }
        continuation.finish()
      }
    }
    var timer = patience()
    var heard: [Int] = []
    for await dealt in news {
      timer.cancel()
      if heard.count / 200 < dealt.heard.count / 200 { report.say("heard of \(dealt.heard.count)") }
      heard = dealt.heard
      if heard.count >= entries && dealt.open == 0 { break }
      timer = patience()
    }
    timer.cancel()
    token.stop()
    await replicator.stop()
    if heard != Array(1...max(1, entries)) {
      let missing = Set(1...max(1, entries)).subtracting(heard).sorted().prefix(20)
      let isOrdered = heard == heard.sorted()
      report.violation("\(entries) writes; the handler heard of \(heard.count), not of \(missing), in their order: \(isOrdered)")
    }
    report.count("events", heard.count)
    judgeAnswers(store, entries)
  }

  private func judgeAnswers(_ store: Store, _ entries: Int) {
    let questions = store.objects(Question.self)
    let wrong = questions.filter { $0.status != .success || $0.answer != $0.number * 2 || $0.times != 1 }
    if questions.count != entries || !wrong.isEmpty {
      let some = wrong.prefix(20).map { "\($0.number): \($0.status), \($0.times) times" }
      report.violation("\(entries) questions were asked, \(questions.count) are there, not answered once: \(some)")
    }
    report.count("messages answered", questions.count - wrong.count)
  }
}

/// What the handlers have done so far.
private struct Dealt: Sendable {
  let heard: [Int]
  /// Questions without an answer.
  let open: Int
}
#endif
