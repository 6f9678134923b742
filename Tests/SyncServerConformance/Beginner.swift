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
