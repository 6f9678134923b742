import SyncModel
import SyncProtocol
import SyncServer
import Vivarium
import VivariumTestSupport

// What happens.

extension SimulatedWorld {
  func step() async throws {
    step0 += 1
    time.pass(Int64(random.below(200)))
    let index = random.below(replicas.count)
    let isOnline = isAway[index] <= step0
    if let network { return try await step(index, network) }
    switch random.below(30) {
    case 0..<10: try await edit(index)
    case 10..<15: if isOnline { try await upload(index, refusedOneIn: 8) }
    case 15..<21: if isOnline { try await download(index) }
    case 21: if random.oneIn(2) { isAway[index] = step0 + random.below(80) }
    case 22: try await purge()
    case 23: if random.oneIn(3) { try await server.truncateLog(path, through: Seq(UInt64(random.below(log.changesets + 1)))) }
    case 24: try await restart(index)
    case 25: try await handle()
    case 26: if random.oneIn(3) { replicas[index].setClock(ahead: Int64(random.below(1_200_000)) - 600_000) }
    case 27: if hasDisasters, random.oneIn(6) { try await restoreServer() }
    case 28: if hasDisasters, random.oneIn(3) { try await restoreFile(index) }
    default: if random.oneIn(3) { backUp = (try await server.backUp(path), log, handlerCursor) }
    }
  }

  func edit(_ index: Int) async throws {
    try replicas[index].edit(&random)
    report.writes += 1
    try await check(index, "after a write")
  }

  func purge() async throws {
    // Who was away for too long is forgotten, and comes back as another.
    guard let purge = try await server.purge(path, expiry: random.oneIn(6) ? time.now() - 9_000 : 0) else { return }
    log.append(purge, at: await server.heads([path])[path] ?? .zero)
    report.purges += 1
    // Who is forgotten while it is connected may be told to forget what it builds on, and begins anew with the next thing that it says.
    guard network != nil else { return }
    for replica in replicas { if try await !server.remembers(replica.id, path) { replica.forget() } }
  }

  /// Sends what waits, now and then twice, as after a lost answer.
  func upload(_ index: Int, refusedOneIn: Int, all isAll: Bool = false) async throws {
    let replica = replicas[index]
    // There is no session before it is bound.
    if !replica.isBound { return }
    let (all, refusalSeen) = try await replica.uploads()
    if all.isEmpty { return }
    let isRefused = random.oneIn(refusedOneIn)
    var count = isAll ? all.count : 1 + random.below(all.count)
    // The changesets of one write go together.
    while count < all.count, case .changeset(let last) = all[count - 1], last.isContinued { count += 1 }
    let sent = Array(all.prefix(count))
    for round in 0...random.below(2) {
      let outcomes: [UploadOutcome]
      do throws(ServerStoreError) {
        outcomes = try await server.commit(path, replica.id, sent, refusalSeen: refusalSeen, at: time.now()) { _ in
          isRefused ? Verdict(.writeDenied) : nil
        }
      } catch {
        guard error.code == .replicaExpired else { throw error }
        return replica.forget()
      }
      let skewed = outcomes.firstIndex(of: .skewed)
      for (upload, outcome) in zip(sent, outcomes).prefix(skewed ?? .max) { try note(upload, outcome) }
      if round > 0 { report.repeats += 1 } else { report.uploads += 1 }
      if skewed != nil {
        report.resets += 1
        return try await replica.beginAnew(asAnother: false)
      }
    }
  }

  func note(_ upload: Upload, _ outcome: UploadOutcome) throws {
    switch (outcome, upload) {
    case (.accepted(let seq), .changeset(let changeset)):
      log.append(changeset, at: seq)
      report.operations += changeset.operations.count
    case (.refused, .changeset): report.refusals += 1
    case (.refused, .void): report.voids += 1
    case (.skewed, _), (.incomplete, _), (.gap, _): throw Divergence("an upload was answered \(outcome)")
    default: break
    }
  }

  func download(_ index: Int) async throws {
    let isLost = random.oneIn(6)
    let mode = try await replicas[index].download(server, path, limitBytes: 1 + random.below(3000), isLost: isLost) {
      // Writers go on while a replica takes objects.
      let other = self.random.below(self.replicas.count)
      if other != index, self.random.oneIn(3) { try await self.upload(other, refusedOneIn: 0) }
    }
    switch mode {
    case .delta: report.deltas += 1
    case .snapshot: report.snapshots += 1
    case .resume, .reset, .rest: break
    }
    try await check(index, "after \(mode)")
  }

  func restart(_ index: Int) async throws {
    if options.engine == .memory { return network?.restart(index) ?? () }
    watches[index]?.stop()
    watches[index] = nil
    try replicas[index].restart()
    network?.restart(index)
    watches[index] = ReplayedResults(try replicas[index].store)
    report.restarts += 1
    try await check(index, "after a restart")
  }

  /// The server's handler takes its next events: each once, in order.
  func handle() async throws {
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

  /// The server is what it was when somebody backed it up: what it took in since is gone.
  func restoreServer() async throws {
    guard let backUp else { return }
    try await server.restore(path, backUp.store)
    (log, handlerCursor) = (backUp.log, backUp.handlerCursor)
    folded = Array(repeating: FoldedLog(), count: replicas.count)
    for replica in replicas { replica.forget() }
    network?.killServer(isForgotten: true)
    report.serverRestores += 1
  }

  /// The file of a device is what it was when somebody copied it.
  func restoreFile(_ index: Int) async throws {
    guard options.engine != .memory else { return }
    watches[index]?.stop()
    watches[index] = nil
    let copy = copies[index]
    try await replicas[index].reopen {
      guard let copy, random.oneIn(2) else {
        copies[index] = try options.engine.copy(directory, files[index], "\(index).\(step0)")
        return nil
      }
      (copies[index], files[index]) = (nil, copy)
      folded[index] = FoldedLog()
      report.fileRestores += 1
      return options.engine.configuration(directory, copy)
    }
    network?.restart(index)
    watches[index] = ReplayedResults(try replicas[index].store)
    try await check(index, "after a file was copied or restored")
  }
}
