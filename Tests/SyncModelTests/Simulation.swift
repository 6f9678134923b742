import SyncModel
import VivariumTestSupport

/// Replicas with wrong clocks and one server, on a network that loses, repeats and cuts: everything happens in one thread in
/// an order that the seed decides. All that goes from one to another goes through its bytes.
struct Simulation {
  struct Profile {
    var replicas = 4
    var steps = 400
    /// One in so many uploads is refused.
    var refusedOneIn = 12
    /// Weights of what a step does.
    var edits = 40, uploads = 25, downloads = 28, purges = 2, truncations = 1, cuts = 2
    /// How often a change is a delete of the whole object.
    var deletesOneIn = 20
  }

  var random: SeededGenerator
  let profile: Profile
  var replicas: [SimulatedReplica]
  var server: SimulatedServer
  var time: Int64 = 1_000
  var counts = Counts()

  struct Counts {
    var operations = 0, changesets = 0, repeated = 0, refused = 0, void = 0, snapshots = 0, purges = 0, oracles = 0, unknown = 0

    static func += (a: inout Counts, b: Counts) {
      a.operations += b.operations
      a.changesets += b.changesets
      a.repeated += b.repeated
      a.refused += b.refused
      a.void += b.void
      a.snapshots += b.snapshots
      a.purges += b.purges
      a.oracles += b.oracles
      a.unknown += b.unknown
    }
  }

  /// What went wrong, if anything.
  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  init(seed: UInt64, profile: Profile) {
    random = SeededGenerator(seed: seed)
    self.profile = profile
    replicas = (1...profile.replicas).map { SimulatedReplica(ReplicaID(UInt64($0))) }
    server = SimulatedServer(replicas: replicas.map(\.id))
    for index in replicas.indices { replicas[index].skew = [0, 0, -50, 40][random.below(4)] }
  }

  mutating func run() throws {
    let weights = [profile.edits, profile.uploads, profile.downloads, profile.purges, profile.truncations, profile.cuts]
    for _ in 0..<profile.steps {
      time += Int64(random.below(6))
      let index = random.below(replicas.count)
      if random.oneIn(30) { try check(replicas[random.below(replicas.count)]) }
      var choice = random.below(weights.reduce(0, +))
      let kind = weights.firstIndex { weight in
        choice -= weight
        return choice < 0
      }
      switch kind {
      case 0: try edit(index)
      case 1: if !replicas[index].isCut { try upload(index) }
      case 2: if !replicas[index].isCut { try download(index, 1 + random.below(6)) }
      case 3: purge()
      case 4: server.truncate(random.below(server.log.count + 1))
      default: replicas[index].isCut.toggle()
      }
    }
    try settle()
  }

  /// All are connected again until nothing is left to do; then all show the same.
  private mutating func settle() throws {
    for _ in 0..<10_000 {
      var isQuiet = true
      for index in replicas.indices {
        let waits = replicas[index].pending.all.contains { $0.changeset.clientSeq > server.gates[replicas[index].id]!.answered }
        if waits { try upload(index) }
        let isBehind = replicas[index].cursor < server.head
        if isBehind { try download(index, 1_000) }
        isQuiet = isQuiet && !waits && !isBehind
      }
      if isQuiet { break }
    }
    let shown = ShownReader(state: server.state).all()
    for replica in replicas {
      guard replica.pending.isEmpty else { throw Fault(description: "\(replica.pending.all.count) changesets were never answered") }
      try check(replica)
      let own = ShownReader(state: replica.state).all()
      guard own == shown else { throw Fault(description: "replica \(replica.id) shows \(own), the server \(shown)") }
    }
    // Any order will do, not that of the log alone.
    var any = MemoryState()
    any.merge(server.accepted.flatMap(\.operations).inAnyOrder(&random))
    guard ShownReader(state: any).all() == shown else { throw Fault(description: "another order of arrival shows something else") }
  }

  /// A replica shows what its log up to here and its own waiting changes come to, replayed from the beginning without any
  /// purge; and its effects have told it all of that.
  mutating func check(_ replica: SimulatedReplica) throws {
    if replica.pending.all.contains(where: \.isVoid) { return }  // what they did goes with the answer
    counts.oracles += 1
    let expected = Replay.shown(server.trueOperations(for: replica))
    let shown = ShownReader(state: replica.state).all()
    guard shown == expected else { throw Fault(description: "replica \(replica.id) shows \(shown), the replay \(expected)") }
    let mirrored = replica.mirror.shown(replica.state)
    guard mirrored == shown else { throw Fault(description: "replica \(replica.id) was told \(mirrored), and it is \(shown)") }
  }

  // MARK: what happens

  private mutating func edit(_ index: Int) throws {
    guard let (changeset, operations) = replicas[index].edit(time, &random, deletesOneIn: profile.deletesOneIn) else { return }
    counts.changesets += 1
    counts.operations += operations.count
    server.truth[changeset] = operations
  }

  private mutating func upload(_ index: Int) throws {
    let replica = replicas[index]
    // Sometimes one that was answered before, whose answer has not come: a lost acknowledgement.
    let answered = server.gates[replica.id]!.answered
    let isRepeated = random.oneIn(4)
    guard let pending = replica.pending.all.first(where: { isRepeated || $0.changeset.clientSeq > answered }) else { return }
    let changeset = try Changeset(decoding: pending.changeset.encoded())
    guard changeset == pending.changeset else { throw Fault(description: "a changeset is another after its bytes") }
    let isRefused = profile.refusedOneIn > 0 && random.oneIn(profile.refusedOneIn)
    switch try server.take(changeset, isVoid: pending.isVoid, refusalSeen: replica.refusalSeen, isRefused: isRefused) {
    case .accepted: break
    case .duplicate: counts.repeated += 1
    case .refused: counts.refused += 1
    case .void: counts.void += 1
    case .unknown(let reference):
      counts.unknown += 1
      throw Fault(description: "an honest author named something unknown: \(reference)")
    case .behind: break
    }
  }

  private mutating func download(_ index: Int, _ count: Int) throws {
    if replicas[index].cursor < server.truncated {
      counts.snapshots += 1
      try replicas[index].takeSnapshot(server)
      rebuildShadow(index)
    } else {
      let from = Int(replicas[index].cursor.rawValue - server.truncated.rawValue)
      for (offset, entry) in server.log.dropFirst(from).prefix(count).enumerated() {
        let seq = Seq(server.truncated.rawValue + UInt64(from + offset) + 1)
        let truth = server.truth
        try replicas[index].integrate(entry, seq) { truth[$0] ?? [] }
        if case .refusal(replicas[index].id, _) = entry { rebuildShadow(index) }
      }
    }
    server.reported[replicas[index].id] = replicas[index].reportedBase
  }

  private mutating func rebuildShadow(_ index: Int) {
    var shadow = MemoryState()
    shadow.merge(server.trueOperations(for: replicas[index]).sorted { $0.stamp < $1.stamp }, seq: .pending)
    replicas[index].shadow = shadow
  }

  private mutating func purge() {
    if server.purge() { counts.purges += 1 }
  }
}
