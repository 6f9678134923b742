import SyncModel
import SyncProtocol
import SyncServer

/// What a handler does that begins at an entry: it takes the objects as they were at a checkpoint, and the log from there.
struct Beginner {
  private(set) var state = MemoryState()
  private let stores: any SyncServerStore
  private let path: StorePath
  private var cursor: Seq

  init(_ stores: any SyncServerStore, _ path: StorePath = Bench.path, at seq: Seq) async throws {
    (self.stores, self.path) = (stores, path)
    var states: [ObjectIdentity: ObjectState?] = [:]
    var page: StatePage
    repeat {
      page = try await stores.objects(path, changedAfter: .zero, behind: states.keys.max(), limitBytes: 1)
      for object in page.objects { states.updateValue(object.state, forKey: object.identity) }
    } while !page.isLast
    let past = try await stores.past(path, at: seq)
    guard past.asOf <= seq else { throw ServerStoreFailure(description: "as of \(past.asOf), and \(seq) was asked for") }
    for (object, old) in past.states { states.updateValue(old, forKey: object) }
    state.setFloor(page.floor)
    _ = Merge.take(states, under: PendingChangesets(), in: &state)
    cursor = past.asOf
    try await follow(to: seq)
  }

  /// Takes in what came behind the entry, as a replica that has written nothing of it.
  mutating func follow(to seq: Seq = Seq(.max)) async throws {
    while cursor < seq {
      let page = try await stores.changes(path, for: ReplicaID(9), after: cursor, limitBytes: 1 << 20)
      for entry in page.entries where entry.seq <= seq {
        switch entry.body {
        case .changeset(_, let changeset): Merge.apply(changeset, seq: entry.seq, to: &state)
        case .purge(let purge): Merge.purge(purge, in: &state)
        case .own, .refusal, .schema: break
        }
      }
      guard page.cursor > cursor else { return }
      cursor = min(page.cursor, seq)
    }
  }

  /// The text or link that a property of a thing shows; a link that leads nowhere is none.
  func shown(_ property: String, of number: Int64) -> String? {
    guard let record = state.record(of: Bench.thing(number)), record.isAlive else { return nil }
    let value = record.node.contents.values[Name(property)]?.visible ?? .null
    if case .link(let link) = value { return Merge.resolves(link, in: state) ? "\(link.object)" : "none" }
    return "\(value)"
  }
}

/// A handler that is behind, and what the objects of a random history showed at each entry at which one may begin.
struct HandlerShadow {
  private var shown: [Seq: [[String]?]] = [:]
  private var lease: HandlerLease
  private var cursor: Seq
  private let path: StorePath

  /// Claims the handler of a new store.
  init(_ stores: any SyncServerStore, _ path: StorePath) async throws {
    guard let lease = try await stores.claim(path, handler: "shadow", fromStart: true, until: .max, at: 0) else {
      throw ServerStoreFailure(description: "no lease")
    }
    (self.lease, cursor, self.path) = (lease, lease.cursor, path)
    try await look(stores)
  }

  /// Notes what is shown now.
  mutating func look(_ stores: any SyncServerStore) async throws {
    let page = try await stores.objects(path, changedAfter: .zero, behind: nil, limitBytes: 1 << 30)
    var state = MemoryState()
    state.setFloor(page.floor)
    let states = page.objects.map { ($0.identity, Optional($0.state)) }
    _ = Merge.take(Dictionary(uniqueKeysWithValues: states), under: PendingChangesets(), in: &state)
    shown[page.asOf] = TestReplica.objects.map { RandomHistory.shown($0, state) }
  }

  /// Goes on to some entry up to the head.
  mutating func advance(_ stores: any SyncServerStore, by count: Int) async throws {
    guard let next = shown.keys.filter({ $0 >= cursor }).sorted().dropFirst(count).first ?? shown.keys.max() else { return }
    _ = try await stores.advance(path, lease, to: next, writing: [], at: 1)
    cursor = next
  }

  /// Throws if a handler that begins at the cursor, or at one of the entries behind it, does not have what was shown there and at the head.
  func check(_ stores: any SyncServerStore, ahead count: Int) async throws {
    guard let seq = shown.keys.filter({ $0 >= cursor }).sorted().dropFirst(count).first, let head = shown.keys.max() else { return }
    var beginner = try await Beginner(stores, path, at: seq)
    try compare(beginner, seq, "at \(seq)")
    try await beginner.follow()
    try compare(beginner, head, "from \(seq) to \(head)")
  }

  private func compare(_ beginner: Beginner, _ seq: Seq, _ when: String) throws {
    let there = TestReplica.objects.map { RandomHistory.shown($0, beginner.state) }
    guard let here = shown[seq], here != there else { return }
    throw ServerStoreFailure(description: "A handler has \(there), and it was \(here), \(when).")
  }
}
