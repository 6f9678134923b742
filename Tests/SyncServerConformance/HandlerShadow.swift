import SyncModel
import SyncProtocol
import SyncServer

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
    let state = RandomHistory.state(of: page)
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
