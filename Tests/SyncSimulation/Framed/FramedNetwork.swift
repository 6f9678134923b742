import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

/// The sessions of a simulation's devices, the server's connections, and the bytes between them: one thing happens at a time, any of those
/// that can.
@MainActor final class FramedNetwork {
  /// Something that can happen.
  enum Action {
    case token(Int)
    case connect(Int)
    case deliver(Int)
    case end(Int)
    case work(Int)
    case answer(Int)
    case ring(Int, SyncSessionTimer)
    case serverDelivers(FramedConnection)
    case serverEnds(FramedConnection)
    case serverWorks(FramedConnection)
    case serverRings(FramedConnection, ServerConnectionTimer)
  }

  unowned let world: SimulatedWorld
  private(set) var sessions: [FramedSession] = []
  private(set) var connections: [FramedConnection] = []
  /// Replicas whose file may be another one since somebody looked.
  private(set) var touched: Set<Int> = []
  /// Nothing is refused any more, and everybody can be reached.
  var isResting = false
  /// How many things happened.
  private(set) var count = 0

  init(_ world: SimulatedWorld) {
    self.world = world
    sessions = world.replicas.map { FramedSession($0, at: world.time.now()) }
  }

  /// How often files began anew, and took objects in place of entries. Of processes that ended, too.
  var resets: Int { sessions.reduce(ended.resets) { $0 + $1.resets } }
  var fetches: Int { sessions.reduce(ended.fetches) { $0 + $1.fetches } }
  /// How often a walk over objects went on behind a cut.
  var rests: Int { sessions.reduce(ended.rests) { $0 + $1.rests } }
  private var ended = (resets: 0, fetches: 0, rests: 0)

  // MARK: what can happen

  private func actions(at now: Int64) -> [Action] {
    var all: [Action] = []
    for (index, session) in sessions.enumerated() {
      if session.canGetToken { all.append(.token(index)) }
      if session.isConnecting { all.append(.connect(index)) }
      if session.connection?.toClient.isEmpty == false { all.append(.deliver(index)) }
      if session.connection?.isOverForClient == true { all.append(.end(index)) }
      if !session.works.isEmpty, session.answer == nil { all.append(.work(index)) }
      if session.answer != nil { all.append(.answer(index)) }
      for (timer, (time, _)) in session.timers where time <= now { all.append(.ring(index, timer)) }
    }
    for connection in connections where !connection.isEnded {
      if !connection.toServer.isEmpty { all.append(.serverDelivers(connection)) }
      if connection.isOverForServer { all.append(.serverEnds(connection)) }
      if !connection.works.isEmpty { all.append(.serverWorks(connection)) }
      for (timer, time) in connection.timers where time <= now { all.append(.serverRings(connection, timer)) }
    }
    return all
  }

  /// Lets some things happen. False where nothing can, before time passes.
  @discardableResult func run(_ steps: Int) async throws -> Bool {
    for _ in 0..<steps {
      let now = world.time.now()
      let all = actions(at: now).sorted { $0.order < $1.order }
      guard !all.isEmpty else { return false }
      count += 1
      let action = all[world.random.below(all.count)]
      world.options.trace?("step \(world.step0): \(describe(action))")
      try await perform(action, at: now)
      connections.removeAll { $0.isEnded }
    }
    return true
  }

  /// In words, for a trace.
  private func describe(_ action: Action) -> String {
    switch action {
    case .deliver(let index): return "\(index + 1) gets \(sessions[index].next ?? "a part")"
    case .work(let index): return "\(index + 1) works on \("\(sessions[index].works[0])".prefix(20_000))"
    case .answer(let index): return "\(index + 1) hears \("\(sessions[index].answer.map { "\($0)" } ?? "")".prefix(20_000))"
    case .connect(let index): return "\(index + 1) connects (\(count))"
    case .token(let index), .end(let index), .ring(let index, _): return "\(index + 1) \("\(action)".prefix(60))"
    case .serverDelivers(let connection): return "server gets of \(connection.number) \(connection.next ?? "a part")"
    case .serverEnds(let connection), .serverRings(let connection, _): return "server \("\(action)".prefix(30)) \(connection.number)"
    case .serverWorks(let connection): return "server works for \(connection.number)"
    }
  }

  private func perform(_ action: Action, at now: Int64) async throws {
    switch action {
    case .token(let index): sessions[index].getToken(at: now)
    case .connect(let index):
      let isReachable = world.isAway[index] <= world.step0 && (isResting || !world.random.oneIn(10))
      let connection = isReachable ? FramedConnection(number: count, at: now) : nil
      if let connection { connections.append(connection) }
      sessions[index].connect(connection, at: now)
    case .deliver(let index): try sessions[index].deliver(at: now)
    case .end(let index): sessions[index].end(at: now)
    case .work(let index):
      touched.insert(index)
      try await sessions[index].work()
    case .answer(let index): sessions[index].deliverAnswer(at: now)
    case .ring(let index, let timer): sessions[index].ring(timer, at: now)
    case .serverDelivers(let connection): connection.deliverToServer(at: now)
    case .serverEnds(let connection): connection.endForServer(at: now)
    case .serverRings(let connection, let timer): connection.ring(timer, at: now)
    case .serverWorks(let connection):
      switch connection.nextWork(&world.random) {
      case .news(let key): connection.take(.news(key), at: now)
      case .effect(let effect): if let event = try await serve(effect, at: now) { connection.take(event, at: now) }
      }
    }
  }

  func takeTouched() -> Set<Int> {
    defer { touched = [] }
    return touched
  }

  // MARK: what is done to it

  /// A person has written something on a device.
  func wrote(_ index: Int) { sessions[index].handle(.written, at: world.time.now()) }

  /// A store of the server has something new.
  func tell() { for connection in connections { connection.tell() } }

  func cut(_ index: Int) { sessions[index].connection?.cut(&world.random) }

  /// The process of a device ends, and begins again.
  func restart(_ index: Int) {
    sessions[index].connection?.leave()
    ended.resets += sessions[index].resets
    ended.fetches += sessions[index].fetches
    ended.rests += sessions[index].rests
    sessions[index] = FramedSession(world.replicas[index], at: world.time.now())
  }

  /// The server dies, and is there again at once, with what it has committed.
  ///
  /// - Parameter isForgotten: what it has said is of a past that it does not have any more: nobody may hear of it.
  func killServer(isForgotten: Bool = false) {
    for connection in connections { connection.die(isForgotten: isForgotten) }
    connections = []
    guard isForgotten else { return }
    for session in sessions where session.connection != nil { session.end(at: world.time.now()) }
  }

  // MARK: rest

  /// Until nobody has anything to say and everybody has everything; what waits for a time is had early.
  func settle() async throws {
    isResting = true
    var isMarked = false
    for _ in 0..<4_000 {
      if try await run(200) { continue }
      if sessions.allSatisfy({ $0.isAtRest }), try await isAllSent() {
        if isMarked, sessions.allSatisfy({ $0.reached == 1 }) { return }
        // Everything is at the server: who has all that it has now has everything.
        if !isMarked { for session in sessions { session.handle(.mark(1), at: world.time.now()) } }
        isMarked = true
        continue
      }
      let timers = sessions.flatMap { $0.timers.values.map(\.at) } + connections.flatMap { $0.timers.values }
      guard let next = timers.min() else { throw Divergence("nobody has anything to do, and something waits") }
      world.time.pass(max(0, next - world.time.now()))
    }
    throw Divergence("it never comes to rest: \(sessions.map { "\($0.session.state)" })")
  }

  private func isAllSent() async throws -> Bool {
    for replica in world.replicas { if try await !replica.bearing().pending.isEmpty { return false } }
    return true
  }
}

extension FramedNetwork.Action {
  /// The same in each run of a seed, whatever order dictionaries have.
  var order: [Int] {
    switch self {
    case .token(let index): [0, index]
    case .connect(let index): [1, index]
    case .deliver(let index): [2, index]
    case .end(let index): [3, index]
    case .work(let index): [4, index]
    case .answer(let index): [5, index]
    case .ring(let index, let timer): [6, index, timer.order]
    case .serverDelivers(let connection): [7, connection.number]
    case .serverEnds(let connection): [8, connection.number]
    case .serverWorks(let connection): [9, connection.number]
    case .serverRings(let connection, let timer): [10, connection.number, timer == .expiry ? 1 : 0]
    }
  }
}

extension SyncSessionTimer {
  fileprivate var order: Int {
    switch self {
    case .retry: 0
    case .upload: 1
    case .acknowledge: 2
    case .ping: 3
    case .pong: 4
    case .renewal: 5
    }
  }
}

extension [Int] {
  fileprivate static func < (a: [Int], b: [Int]) -> Bool { a.lexicographicallyPrecedes(b) }
}
