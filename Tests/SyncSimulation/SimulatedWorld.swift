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
  private var watches: [ReplayedResults?] = []
  /// Replicas that reach nobody until a step.
  private var isAway: [Int]
  private var step0 = 0
  var report = Simulation.Report()
  /// What the server took in, by its place, and what it made everybody forget.
  private(set) var accepted: [(seq: Seq, changeset: Changeset)] = []
  private var purges: [(seq: Seq, purge: Purge)] = []
  private var handlerCursor = Seq.zero

  init(seed: UInt64, _ options: Simulation.Options, _ directory: TemporaryDirectory) async throws {
    random = SeededGenerator(seed: seed)
    self.options = options
    server = MemoryServerStore(random: random.fork())
    guard let path = StorePath("/shared/simulation") else { throw Divergence("no path") }
    self.path = path
    isAway = Array(repeating: 0, count: options.clients)
    try await server.makeStore(path)
    _ = try await server.claim(path, handler: "counter", fromStart: true, until: 0, at: 0)
    for index in 0..<options.clients {
      // Ten minutes either way.
      let skew = Int64(random.below(1_200_000)) - 600_000
      let configuration = options.engine.configuration(directory, "\(index)")
      let fault = index == 0 ? options.fault : nil
      replicas.append(try SimulatedReplica(UInt64(index + 1), configuration, time: time, skew: skew, fault: fault))
      _ = try await replicas[index].download(server, path, limitBytes: 1 << 20, isLost: false)
      watches.append(try ReplayedResults(replicas[index].store))
    }
  }

  // MARK: one step

  func step() async throws {
    step0 += 1
    time.pass(Int64(random.below(200)))
    let index = random.below(replicas.count)
    let isOnline = isAway[index] <= step0
    switch random.below(26) {
    case 0..<10: try await edit(index)
    case 10..<15: if isOnline { try await upload(index, refusedOneIn: 8) }
    case 15..<21: if isOnline { try await download(index) }
    case 21: if random.oneIn(2) { isAway[index] = step0 + random.below(80) }
    case 22: try await purge()
    case 23: if random.oneIn(3) { try await server.truncateLog(path, through: Seq(UInt64(random.below(accepted.count + 1)))) }
    case 24: try await restart(index)
    default: try await handle()
    }
  }

  private func edit(_ index: Int) async throws {
    try replicas[index].edit(&random)
    report.writes += 1
    try await check(index, "after a write")
  }

  private func purge() async throws {
    guard let purge = try await server.purge(path, expiry: 0) else { return }
    purges.append((await server.heads([path])[path] ?? .zero, purge))
    report.purges += 1
  }

  /// Sends what waits, now and then twice, as after a lost answer.
  private func upload(_ index: Int, refusedOneIn: Int) async throws {
    let replica = replicas[index]
    let (all, refusalSeen) = try await replica.uploads()
    if all.isEmpty { return }
    let isRefused = random.oneIn(refusedOneIn)
    var count = 1 + random.below(all.count)
    // The changesets of one write go together.
    while count < all.count, case .changeset(let last) = all[count - 1], last.isContinued { count += 1 }
    let sent = Array(all.prefix(count))
    for round in 0...random.below(2) {
      let outcomes = try await server.commit(path, replica.id, sent, refusalSeen: refusalSeen, at: time.now()) { _ in
        isRefused ? Verdict(.writeDenied) : nil
      }
      for (upload, outcome) in zip(sent, outcomes) { try note(upload, outcome) }
      if round > 0 { report.repeats += 1 } else { report.uploads += 1 }
    }
  }

  private func note(_ upload: Upload, _ outcome: UploadOutcome) throws {
    switch (outcome, upload) {
    case (.accepted(let seq), .changeset(let changeset)):
      accepted.append((seq, changeset))
      report.operations += changeset.operations.count
    case (.refused, .changeset): report.refusals += 1
    case (.refused, .void): report.voids += 1
    case (.skewed, _), (.incomplete, _), (.gap, _): throw Divergence("an upload was answered \(outcome)")
    default: break
    }
  }

  private func download(_ index: Int) async throws {
    let isLost = random.oneIn(6)
    let mode = try await replicas[index].download(server, path, limitBytes: 1 + random.below(3000), isLost: isLost) {
      // Writers go on while a replica takes objects.
      let other = self.random.below(self.replicas.count)
      if other != index, self.random.oneIn(3) { try await self.upload(other, refusedOneIn: 0) }
    }
    switch mode {
    case .delta: report.deltas += 1
    case .snapshot: report.snapshots += 1
    case .resume, .reset: break
    }
    try await check(index, "after \(mode)")
  }

  private func restart(_ index: Int) async throws {
    if options.engine == .memory { return }
    watches[index]?.stop()
    watches[index] = nil
    try replicas[index].restart()
    watches[index] = ReplayedResults(try replicas[index].store)
    report.restarts += 1
    try await check(index, "after a restart")
  }

  /// The server's handler takes its next events: each once, in order.
  private func handle() async throws {
    let now = time.now()
    guard let lease = try await server.claim(path, handler: "counter", fromStart: true, until: now + 1000, at: now) else { return }
    if lease.cursor != handlerCursor { throw Divergence("the handler stands at \(lease.cursor) and not at \(handlerCursor)") }
    let head = await server.heads([path])[path] ?? .zero
    // Crashes before it says so: the same events come again.
    if random.oneIn(3) { return }
    _ = try await server.advance(path, lease, to: head, writing: [], at: now)
    report.events += Int(head.rawValue - handlerCursor.rawValue)
    handlerCursor = options.fault == .handlerForgets ? .zero : head
  }

  // MARK: what has to be

  private func check(_ index: Int, _ what: String) async throws {
    let place = "step \(step0), \(what)"
    let replica = replicas[index]
    let look = try await replica.check(place)
    try replica.store.refresh()
    try watches[index]?.check(place)
    // What void changes did stays visible until they are answered, and objects may be ahead of the cursor for a while.
    if look.pending.all.contains(where: \.isVoid) || replica.highest > look.cursor { return }
    var folded = MemoryState()
    let known = accepted.filter { $0.seq <= look.cursor }
    let waiting = look.pending.all.filter { pending in
      !known.contains { $0.changeset.author == pending.changeset.author && $0.changeset.clientSeq == pending.changeset.clientSeq }
    }
    // Who comes after a marker names epochs as they are once it was taken in.
    var markers = purges.filter { $0.seq <= look.cursor }[...]
    for entry in known.sorted(by: { $0.seq < $1.seq }) {
      while let marker = markers.first, marker.seq < entry.seq {
        Merge.purge(marker.purge, in: &folded)
        markers.removeFirst()
      }
      _ = Merge.apply(entry.changeset, seq: entry.seq, to: &folded)
    }
    for marker in markers { Merge.purge(marker.purge, in: &folded) }
    for pending in waiting { _ = Merge.apply(pending.changeset, seq: .pending, to: &folded) }
    let expected = Picture(folded)
    if look.file != expected {
      throw Divergence("\(place), replica \(replica.id) is not what was accepted and waits: \(look.file.difference(from: expected))")
    }
    report.comparisons += 1
  }

  /// Everybody sends and takes in everything, and then all are equal.
  func rest() async throws {
    isAway = Array(repeating: 0, count: replicas.count)
    // Each answer to a void is waited for: as many rounds as there are changesets.
    for _ in 0..<400 {
      var isWaiting = false
      for index in replicas.indices {
        _ = try await replicas[index].download(server, path, limitBytes: 1 << 20, isLost: false)
        if try await !replicas[index].look().pending.isEmpty {
          isWaiting = true
          try await upload(index, refusedOneIn: 0)
        }
      }
      if !isWaiting { break }
    }
    let final = try await server.objects(path, changedAfter: .zero, behind: nil, limitBytes: 1 << 30)
    var state = MemoryState()
    state.setFloor(final.floor)
    for object in final.objects { Merge.replace(object.identity, with: object.state, in: &state) }
    let server = Picture(state)
    for index in replicas.indices {
      defer { watches[index]?.stop() }
      // Objects, and then the entries after them.
      for _ in 0..<3 { _ = try await replicas[index].download(self.server, path, limitBytes: 1 << 24, isLost: false) }
      let look = try await replicas[index].look()
      if !look.pending.isEmpty { throw Divergence("replica \(index + 1) still waits") }
      if look.file != server { throw Divergence("at rest, replica \(index + 1) is not the server: \(look.file.difference(from: server))") }
      try await check(index, "at rest")
    }
  }
}
