import SyncModel
import SyncProtocol

/// One store on a connection, as the server sees it.
///
/// | state | what goes on |
/// |---|---|
/// | `binding` | rights and standing are being found out; what comes meanwhile waits |
/// | `fetching` | objects are sent, page by page |
/// | `live` | entries are sent as they come |
///
/// Uploads and acknowledgements form one line, and one step of it is done at a time: what a client says after it has seen a
/// refusal must not be believed of what it said before. Marks are in it too, so that a client that asks for all hears of what it sent.
struct ServerSession: Sendable {
  enum State: Hashable, Sendable {
    case binding
    case fetching(Fetch)
    case live
  }

  struct Fetch: Hashable, Sendable {
    /// Objects that changed after this.
    let start: Seq
    /// The last one that was sent.
    var last: ObjectIdentity?
    /// Where entries go on after the pages.
    var asOf: Seq?
  }

  let key: SessionKey
  let place: ReplicaOfStore
  let bind: Bind
  var state = State.binding
  var grant = StoreGrant.none
  /// Messages that came before it was bound.
  var early: [(message: ClientMessage, bytes: Int)] = []
  var earlyBytes = 0

  // Down.
  /// Up to here everything was sent.
  var cursor = Seq.zero
  var credit = SendCredit()
  var isReading = false
  /// Whether there may be something behind the cursor.
  var hasNews = false
  /// What the client wants to be told, and when: once the cursor is there.
  var marks: [(number: UInt64, head: Seq)] = []

  // Up.
  var window: ReceiveWindow
  var line = UploadLine()
  var isWorking = false
  /// The numbers of the uploads that are being judged.
  var judging: [UInt64] = []
  /// The last refusal that the client has said it has seen.
  var refusalSeen: Seq

  init(_ key: SessionKey, _ path: StorePath, _ bind: Bind, uploadWindow: UInt64) {
    self.key = key
    place = ReplicaOfStore(path: path, replica: bind.replica)
    self.bind = bind
    refusalSeen = bind.refusalSeen
    window = ReceiveWindow(size: uploadWindow)
  }

  /// The next step of what goes up; nil while one is being done, and where there is none, or none whole.
  mutating func nextStep() -> UploadLine.Batch? {
    guard !isWorking else { return nil }
    let next = line.next()
    switch next {
    case .mark, nil: break
    case .acknowledge: isWorking = true
    case .commit(let uploads, _, _):
      isWorking = true
      judging = uploads.map(\.clientSeq)
    }
    return next
  }
}
