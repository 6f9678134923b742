#if Sync
import Foundation
import StorageMemory
import StoreMessages
import SyncClient
import SyncManagement
import SyncProving
import SyncWebSocket
import Vivarium

/// Users give each other rights, change them and take them away through their management stores, while all their devices write and read
/// through the server's program. Whatever the moment: who may not read sees nothing new, what may not be written is not there, what may be
/// written is, and every wish has its answer.
///
/// A write counts as allowed or refused only where the rights were known, and the same, from when it was made to when the server had
/// answered it; while they change, both is right.
@MainActor final class Permissions {
  /// What is known of a user's rights in a store: nil while they change. Each change is another version.
  private struct Knowledge {
    var rights: RightsModel.Rights? = RightsModel.Rights()
    var version = 0
    /// The last write before the user could not read any more; nil where he can.
    var blindSince: Int? = 0
  }

  private static let owner = "ann"
  private static let users = [owner, "bob", "cleo", "dan"]
  private static let paths = ["/ann/tasks", "/ann/notes"]
  /// How long an answer may take: a server that was killed had a lease of half a minute.
  private static let patience = Duration.seconds(90)

  private let home: ServerHome
  private let place: [String]
  private let report: Report
  private let folder: URL
  private var random: SplitMix
  private var model = RightsModel(users: Permissions.users)
  private var known: [RightsModel.Place: Knowledge] = [:]
  private var tokens: [String: String] = [:]
  private var servers: [ServerProgram] = []
  private var wires: [Wire] = []
  private var managements: [String: Store] = [:]
  private var devices: [RightsDevice] = []
  private var lastNumber = 0
  private var isResting = false
  /// By store: what has to be there, and what must not, for ever.
  private var allowed: [String: Set<Int>] = [:]
  private var refused: [String: Set<Int>] = [:]
  private var refusals: [String: Int] = [:]

  init(_ home: ServerHome, database: String?, folder: URL, seed: UInt64, report: Report) throws {
    guard home != .memory else { throw CheckFailed("The server's program keeps what it has in a folder or a database, and not in memory.") }
    (self.home, self.report, self.folder) = (home, report, folder)
    place = database.map { ["--postgres", $0] } ?? ["--folder", folder.appending(path: "server").path]
    random = SplitMix(state: seed)
  }

  func run(rounds: Int, killEvery: Int) async throws {
    try await begin()
    let writing = Task { try await writeOnAndOn() }
    for round in 1...max(1, rounds) {
      if round.isMultiple(of: 6) { try await offer() } else { try await change(wish()) }
      if round.isMultiple(of: 2) { await confirm() }
      if round.isMultiple(of: 5) { try await rest() }
      if killEvery > 0, round.isMultiple(of: killEvery) { try killServer() }
      if round.isMultiple(of: 50) { report.say("\(round) changes of rights, \(lastNumber) writes") }
    }
    try await rest()
    writing.cancel()
    try await writing.value
    try await intrude()
    await end()
  }

  // MARK: the beginning and the end

  private func begin() async throws {
    for user in Permissions.users { tokens[user] = try ServerProgram.token(at: place, user: user) }
    for _ in 0..<home.servers {
      let server = try startServer()
      servers.append(server)
      wires.append(try await Wire(to: server.port))
    }
    for (number, user) in Permissions.users.enumerated() {
      managements[user] = try FixedToken(tokens[user] ?? "").managementStore(
        .memory("management of \(user) \(UUID())"), connector: try connector(number))
    }
    // The owner's devices first: they make the stores.
    for (number, (user, path)) in Permissions.users.flatMap({ user in Permissions.paths.map { (user, $0) } }).enumerated() {
      let device = try device("\(user)\(path.dropFirst(4).replacing("/", with: "-"))", number, user, path)
      devices.append(device)
      await device.start()
      if user == Permissions.owner {
        try device.makeBoard()
        try await device.replicator.uploaded()
        known[RightsModel.Place(user: user, path: path)] = Knowledge(rights: model.rights(of: user, in: path), blindSince: nil)
      } else {
        known[RightsModel.Place(user: user, path: path)] = Knowledge()
      }
    }
  }

  private func startServer() throws -> ServerProgram { try ServerProgram(at: place, ["--log-level", "critical"]) }

  private func connector(_ number: Int) throws -> WebSocketConnector {
    try WebSocketConnector("ws://127.0.0.1:\(wires[number % wires.count].port)")
  }

  private func device(_ name: String, _ number: Int, _ user: String, _ path: String) throws -> RightsDevice {
    try RightsDevice(
      name, life: number, user: user, path: path, token: tokens[user] ?? "", connector: try connector(number), folder: folder)
  }

  private func killServer() throws {
    let number = Int.random(in: 0..<servers.count, using: &random)
    servers[number].killNow()
    servers[number] = try startServer()
    wires[number].lead(to: servers[number].port)
    report.count("servers killed", 1)
  }

  private func end() async {
    for device in devices { await device.stop() }
    for store in managements.values { await store.sync?.stop() }
    for server in servers { server.killNow() }
    for wire in wires { await wire.end() }
  }

  // MARK: writing

  private func writeOnAndOn() async throws {
    while !Task.isCancelled {
      if !isResting { try writeSomewhere() }
      do { try await Task.sleep(for: .milliseconds(Int.random(in: 0...12, using: &random))) } catch { return }
    }
  }

  private func writeSomewhere() throws {
    guard let device = devices.randomElement(using: &random), device.hasBoard, let known = knowledge(device) else { return }
    lastNumber += 1
    try device.write(lastNumber)
    device.writes.append(RightsDevice.Write(number: lastNumber, may: known.rights?.write, version: known.version))
  }

  private func knowledge(_ device: RightsDevice) -> Knowledge? { known[RightsModel.Place(user: device.user, path: device.path)] }

  // MARK: changing rights

  private func wish() -> RightsModel.Wish {
    let user = Int.random(in: 0..<100, using: &random)
    func right(_ nothing: Int, _ yes: Int) -> Bool? {
      if Int.random(in: 0..<100, using: &random) < nothing { return nil }
      return Int.random(in: 0..<100, using: &random) < (user < 12 ? 25 : yes)
    }
    return RightsModel.Wish(
      author: Int.random(in: 0..<10, using: &random) < 7 ? Permissions.owner : Permissions.users.randomElement(using: &random) ?? "",
      path: (Permissions.paths + Permissions.paths + ["/ann/*"]).randomElement(using: &random) ?? "",
      user: user < 12 ? "*" : user < 15 ? "nobody" : Permissions.users.dropFirst().randomElement(using: &random) ?? "",
      read: right(25, 60), write: right(25, 55), manage: right(70, 40))
  }

  private func change(_ wish: RightsModel.Wish) async throws {
    let address = wish.author == Permissions.owner ? wish.path.replacing("/ann/", with: "/~/") : wish.path
    let change = SyncPermissionChange(
      storeURL: address, userID: wish.user, mayRead: wish.read, mayWrite: wish.write, mayManage: wish.manage)
    try await apply(wish, isGranted: model.isGranted(wish)) { try await ask(wish.author, change) }
  }

  /// The owner offers rights, and another one accepts.
  private func offer() async throws {
    guard let taker = Permissions.users.dropFirst().randomElement(using: &random) else { return }
    let (path, mayWrite) = (Permissions.paths.randomElement(using: &random) ?? "", Bool.random(using: &random))
    let offer = SyncPermissionOffer(storeURL: path, mayWrite: mayWrite)
    guard try await ask(Permissions.owner, offer)?.status == .success, let token = offer.token else {
      return report.violation("an offer has no token: \(offer.statusMessage ?? "no answer")")
    }
    let wish = RightsModel.Wish(author: Permissions.owner, path: path, user: taker, read: true, write: mayWrite ? true : nil)
    try await apply(wish, isGranted: true) { try await ask(taker, SyncPermissionOfferResponse(token: token)) }
    report.count("offers accepted", 1)
  }

  /// Has a wish made and answered, and everybody hear of it.
  private func apply(
    _ wish: RightsModel.Wish, isGranted: Bool, _ ask: @MainActor () async throws -> (status: MessageStatus, text: String)?
  ) async throws {
    var after = model
    if isGranted { after.apply(wish) }
    let changed = known.keys.filter { model.rights(of: $0.user, in: $0.path) != after.rights(of: $0.user, in: $0.path) }
    for place in changed { learn(place, nil) }
    guard let answer = try await ask() else { throw CheckFailed("A wish has no answer: \(wish)") }
    if (answer.status == .success) != isGranted || answer.text.isEmpty {
      report.violation("\(wish): \(answer.status), '\(answer.text)', and it may be: \(isGranted)")
      throw CheckFailed("From here on nobody knows who may do what.")
    }
    report.count(isGranted ? "changes of rights" : "wishes refused", 1)
    model = after
    for device in devices where changed.contains(RightsModel.Place(user: device.user, path: device.path)) { await tell(device) }
    // The other server of a database hears of it by itself, within a second.
    if !changed.isEmpty, servers.count > 1 { try await Task.sleep(for: .seconds(1)) }
    for place in changed { learn(place, model.rights(of: place.user, in: place.path)) }
  }

  private func learn(_ place: RightsModel.Place, _ rights: RightsModel.Rights?) {
    known[place]?.rights = rights
    known[place]?.version += 1
    guard let rights else { return }
    let blindSince = known[place]?.blindSince ?? lastNumber
    known[place]?.blindSince = rights.mayRead ? nil : blindSince
  }

  /// A device that may not read has to hear that; one that may again is told by its user.
  private func tell(_ device: RightsDevice) async {
    if model.rights(of: device.user, in: device.path).mayRead {
      if case .suspended = await device.replicator.state { await device.replicator.retry() }
    } else if await !within(.seconds(30), { _ = await device.isShutOut() }) {
      report.violation("\(device.name) may not read, and its session goes on: \(await device.replicator.state)")
    }
  }

  /// Puts a wish into a user's management store; its answer, or nil where there is none.
  private func ask<M: Message>(_ user: String, _ message: M) async throws -> (status: MessageStatus, text: String)? {
    guard let store = managements[user] else { return nil }
    try store.write { try store.add(message) }
    let (answers, continuation) = AsyncStream.makeStream(of: Void.self)
    let token = message.observe { _ in if message.status != .notProcessed { continuation.yield() } }
    let timer = Task {
      do { try await Task.sleep(for: Permissions.patience) } catch { return }
      continuation.finish()
    }
    for await _ in answers { break }
    timer.cancel()
    token.stop()
    return message.status == .notProcessed ? nil : (message.status, message.statusMessage ?? "")
  }

  // MARK: judging

  /// Waits for the server's answers to what was written, and notes what has to be and what must not be.
  private func confirm() async {
    for device in devices where knowledge(device)?.rights?.mayRead == true {
      let (writes, replicator) = (device.writes, device.replicator)
      guard await within(.seconds(60), { try await replicator.uploaded() }) else {
        report.violation("\(device.name) could not send everything: \(await replicator.state)")
        continue
      }
      device.writes.removeFirst(writes.count)
      let version = knowledge(device)?.version
      for write in writes where write.version == version {
        switch write.may {
        case true?: allowed[device.path, default: []].insert(write.number)
        case false?:
          refused[device.path, default: []].insert(write.number)
          refusals[device.name, default: 0] += 1
        case nil: break
        }
      }
    }
  }

  /// Has everything come to rest, and looks whether all is as it has to be.
  private func rest() async throws {
    isResting = true
    defer { isResting = false }
    await confirm()
    for device in devices where knowledge(device)?.rights?.mayRead == true {
      let replicator = device.replicator
      if await !within(.seconds(60), { try await replicator.downloaded() }) { report.violation("\(device.name) did not come to rest") }
    }
    for path in Permissions.paths { judge(path) }
    let blind = devices.filter { knowledge($0)?.rights?.mayRead == false }
    if Int.random(in: 0..<3, using: &random) == 0, let device = blind.randomElement(using: &random) {
      try await device.wipe()
      refusals[device.name] = 0
      report.count("devices wiped", 1)
    }
  }

  private func judge(_ path: String) {
    let devices = devices.filter { $0.path == path }
    guard let first = devices.first(where: { $0.user == Permissions.owner }) else { return }
    let notes = first.notes
    let lost = (allowed[path] ?? []).subtracting(notes.keys)
    if !lost.isEmpty { report.violation("\(path): allowed, and not there: \(lost.sorted())") }
    let kept = (refused[path] ?? []).intersection(notes.keys)
    if !kept.isEmpty { report.violation("\(path): refused, and there: \(kept.sorted())") }
    for device in devices {
      if let fault = device.fault { report.violation("\(device.name): \(fault)") }
      guard let known = knowledge(device) else { continue }
      let waiting = device.writes.filter { $0.version == known.version && $0.may == false && notes[$0.number] != nil }
      if !waiting.isEmpty { report.violation("\(device.name) may not write, and has: \(waiting.map(\.number))") }
      if let since = known.blindSince {
        let seen = device.notes.filter { $0.key > since && $0.value != device.name }
        if !seen.isEmpty { report.violation("\(device.name) may not read, and has seen \(seen.keys.sorted())") }
      } else if device.notes != notes {
        let difference = Set(device.notes.keys).symmetricDifference(notes.keys).sorted()
        report.violation("\(device.name) and \(first.name) differ: \(difference)")
      }
      if device.toldOfRefusals < refusals[device.name, default: 0] {
        report.violation("\(device.name): \(refusals[device.name, default: 0]) writes were refused, and told were \(device.toldOfRefusals)")
      }
    }
    report.count("comparisons", devices.count)
  }

  /// Rights at everything below a name are no rights at the management store there.
  private func intrude() async throws {
    try await change(RightsModel.Wish(author: Permissions.owner, path: "/ann/*", user: "bob", read: true, write: true, manage: true))
    let device = try device("intruder", 0, "bob", "/ann/__management")
    await device.start()
    if await !within(.seconds(30), { _ = await device.isShutOut() }) {
      report.violation("bob reads ann's management store: \(await device.replicator.state)")
    }
    await device.stop()
    let (may, mayNot) = (allowed.values.reduce(0) { $0 + $1.count }, refused.values.reduce(0) { $0 + $1.count })
    report.count("writes allowed", may)
    report.count("writes refused", mayNot)
    report.count("writes while rights changed", lastNumber - may - mayNot)
  }
}
#endif
