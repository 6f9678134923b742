import StorageInterface
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium
import VivariumTestSupport

/// A server, its replicas, and what goes on between them.
@MainActor final class SimulatedWorld {
  var random: SeededGenerator
  let options: Simulation.Options
  let server: MemoryServerStore
  let path: StorePath
  let time = SimulatedTime()
  private(set) var replicas: [SimulatedReplica] = []
  var watches: [ReplayedResults?] = []
  /// Replicas that reach nobody until a step.
  var isAway: [Int]
  var step0 = 0
  var report = Simulation.Report()
  var log = AcceptedLog()
  var folded: [FoldedLog]
  var handlerCursor = Seq.zero
  /// What the server was once, and what was known of it then.
  var backUp: (store: MemoryServerStore.BackUp, log: AcceptedLog, handlerCursor: Seq)?
  /// Whether back-ups are restored: after that everybody takes all objects, which hides other things.
  let hasDisasters: Bool
  /// The sessions, where they speak for themselves.
  private(set) var network: FramedNetwork?
  let directory: TemporaryDirectory
  /// The names of the replicas' files, and of copies that may take their place.
  var files: [String]
  var copies: [String?]

  init(seed: UInt64, _ options: Simulation.Options, _ directory: TemporaryDirectory) async throws {
    random = SeededGenerator(seed: seed)
    self.options = options
    // A planted fault is looked for without.
    hasDisasters = random.oneIn(2) && options.fault == nil
    self.directory = directory
    files = (0..<options.clients).map { "\($0)" }
    copies = Array(repeating: nil, count: options.clients)
    server = MemoryServerStore(random: random.fork())
    guard let path = StorePath("/shared/simulation") else { throw Divergence("no path") }
    self.path = path
    isAway = Array(repeating: 0, count: options.clients)
    folded = Array(repeating: FoldedLog(), count: options.clients)
    try await server.makeStore(path)
    _ = try await server.claim(path, handler: "counter", fromStart: true, until: 0, at: 0)
    for index in 0..<options.clients {
      // Ten minutes either way.
      let skew = Int64(random.below(1_200_000)) - 600_000
      let configuration = options.engine.configuration(directory, "\(index)")
      let fault = index == 0 ? options.fault : nil
      replicas.append(try SimulatedReplica(UInt64(index + 1), configuration, time: time, skew: skew, fault: fault))
      // Some join later, and what they write before is dated by a clock that nobody has corrected.
      if !options.isFramed, !random.oneIn(4) {
        _ = try await replicas[index].download(server, path, limitBytes: 1 << 20, isLost: false)
      }
      watches.append(try ReplayedResults(replicas[index].store))
    }
    if options.isFramed { network = FramedNetwork(self) }
  }

  // MARK: what has to be

  func check(_ index: Int, _ what: String) async throws {
    let place = "step \(step0), \(what)"
    let replica = replicas[index]
    let look = try await replica.check(place)
    try replica.store.refresh()
    try watches[index]?.check(place)
    // What void changes did stays visible until they are answered, and objects may be ahead of the cursor for a while.
    if !replica.isBound || look.bearing.pending.all.contains(where: \.isVoid) || replica.highest > look.bearing.cursor { return }
    // What was written before the device ever joined may be dated below what everybody has forgotten. Merged before what others still say
    // of that it shows otherwise than merged behind it, until the server has it.
    if network != nil, look.bearing.pending.all.contains(where: { $0.changeset.first <= look.bearing.floor }) { return }
    folded[index].advance(to: look.bearing.cursor, log)
    let folded = folded[index].state(with: look.bearing.pending, log)
    let expected = Picture(folded)
    if look.file != expected {
      throw Divergence("\(place), replica \(replica.id) is not what was accepted and waits: \(look.file.difference(from: expected))")
    }
    report.comparisons += 1
  }

  /// Everybody sends and takes in everything, and then all are equal.
  func rest() async throws {
    isAway = Array(repeating: 0, count: replicas.count)
    if let network { try await network.settle() } else { try await sendAll() }
    let final = try await server.objects(path, changedAfter: .zero, behind: nil, limitBytes: 1 << 30)
    var state = MemoryState()
    state.setFloor(final.floor)
    for object in final.objects { Merge.replace(object.identity, with: object.state, in: &state) }
    let server = Picture(state)
    for index in replicas.indices {
      defer { watches[index]?.stop() }
      // Objects, and then the entries after them.
      for _ in 0..<(network == nil ? 3 : 0) {
        _ = try await replicas[index].download(self.server, path, limitBytes: 1 << 24, isLost: false)
      }
      let look = try await replicas[index].look()
      if !look.bearing.pending.isEmpty { throw Divergence("replica \(index + 1) still waits") }
      if look.file != server { throw Divergence("at rest, replica \(index + 1) is not the server: \(look.file.difference(from: server))") }
      try await check(index, "at rest")
    }
  }

  private func sendAll() async throws {
    // Each answer to a void is waited for: as many rounds as there are changesets.
    for _ in 0..<400 {
      var isWaiting = false
      for index in replicas.indices {
        // Some join later, and what they write before is dated by a clock that nobody has corrected.
      if !random.oneIn(4) { _ = try await replicas[index].download(server, path, limitBytes: 1 << 20, isLost: false) }
        if try await !replicas[index].bearing().pending.isEmpty {
          isWaiting = true
          try await upload(index, refusedOneIn: 0, all: true)
        }
      }
      if !isWaiting { break }
    }
  }
}
