import SyncModel
import SyncProtocol

/// One store on a connection, on the server's side.
///
/// | state | what goes on |
/// |---|---|
/// | `binding` | rights and standing are being found out; what comes meanwhile waits |
/// | `fetching` | objects are sent, page by page |
/// | `live` | entries are sent as they come |
///
/// Uploads, declarations, acknowledgements and marks are handled in one queue, one step at a time: an acknowledgement of a refusal must
/// not apply to uploads sent before it, and a mark covers what was sent before it.
struct ServerSession: Sendable {
  enum State: Hashable, Sendable {
    case binding
    case fetching(Fetch)
    case live
  }

  struct Fetch: Hashable, Sendable {
    /// The objects that changed after this entry are sent.
    let start: Seq
    /// The last object sent.
    var last: ObjectIdentity?
    /// The entry after which entries follow the pages.
    var asOf: Seq?
  }

  let key: SessionKey
  let place: ReplicaOfStore
  let bind: Bind
  /// The pages that the client has already.
  let begun: BegunPages?
  var state = State.binding
  var grant = StoreGrant.none
  /// Messages that came before the session was bound.
  var early: [(message: ClientMessage, bytes: Int)] = []
  var earlyBytes = 0

  // Downloads.
  /// The history of the store that was bound.
  var history: [UInt8] = []
  /// The last entry that was there when it was bound: what `Bound.judged` does not tell of is behind it.
  var head = Seq.zero
  /// Up to where a purge may have forgotten things by then.
  var stable = Seq.zero
  /// Everything up to this entry was sent.
  var cursor = Seq.zero
  var credit = SendCredit()
  var isReading = false
  /// What is left of the page that was read last; nothing more is read before it was sent.
  var rest: PageRest?
  /// Whether there may be entries after the cursor.
  var hasNews = false
  /// The client's marks, each answered once the cursor has reached its head.
  var marks: [(number: UInt64, head: Seq)] = []

  // Uploads.
  var window: ReceiveWindow
  var line = UploadLine()
  var isWorking = false
  /// The numbers of the uploads being judged.
  var judging: [UInt64] = []
  /// The last refusal that the client has acknowledged.
  var refusalSeen: Seq

  init(_ key: SessionKey, _ path: StorePath, _ bind: Bind, _ begun: BegunPages?, uploadWindow: UInt64) {
    self.key = key
    place = ReplicaOfStore(path: path, replica: bind.replica)
    (self.bind, self.begun) = (bind, begun)
    refusalSeen = bind.refusalSeen
    window = ReceiveWindow(size: uploadWindow)
  }

  /// The next step; nil while one is under way, and if no complete one waits.
  mutating func nextStep() -> UploadLine.Batch? {
    guard !isWorking else { return nil }
    let next = line.next()
    switch next {
    case .mark, nil: break
    case .acknowledge, .declare: isWorking = true
    case .commit(let uploads, _, _):
      isWorking = true
      judging = uploads.map(\.clientSeq)
    }
    return next
  }
}

extension ServerSession.Fetch {
  /// What a page says to a client that may reconnect: the last object sent, which a server of any build understands. Empty if its name is
  /// too long for that.
  var next: [UInt8] {
    guard let last else { return [] }
    let words = ObjectIdentity.encode([last])
    return words.count <= BegunPages.nextBytes ? words : []
  }

  /// The object that `next` names; nil for any other bytes.
  static func last(_ next: [UInt8]) -> ObjectIdentity? {
    do throws(CodingError) {
      let objects = try ObjectIdentity.decode(next)
      return objects.count == 1 ? objects[0] : nil
    } catch { return nil }
  }
}
