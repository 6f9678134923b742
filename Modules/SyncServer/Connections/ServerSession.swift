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

  enum Step: Sendable {
    case upload(Upload, refusalSeen: Seq, bytes: Int)
    case acknowledge(Acknowledgement)
    case mark(UInt64)
  }

  let key: SessionKey
  let place: ReplicaOfStore
  let bind: Bind
  var state = State.binding
  var grant = StoreGrant.none
  /// Messages that came before it was bound.
  var early: [(message: ClientMessage, bytes: Int)] = []

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
  var line: [Step] = []
  var isWorking = false
  /// The numbers of the uploads that are being judged.
  var judging: [UInt64] = []
  /// Bytes of uploads in the line.
  var waiting = 0
  /// The last refusal that the client has said it has seen.
  var refusalSeen: Seq

  init(_ key: SessionKey, _ path: StorePath, _ bind: Bind, uploadWindow: UInt64) {
    self.key = key
    place = ReplicaOfStore(path: path, replica: bind.replica)
    self.bind = bind
    refusalSeen = bind.refusalSeen
    window = ReceiveWindow(size: uploadWindow)
  }

  // MARK: the line of what goes up

  /// The next step: as many uploads as belong together or were said in the same breath, whole transactions only.
  ///
  /// - Returns: nil while a step is being done, and where there is none, or none whole.
  mutating func nextStep() -> NextStep? {
    guard !isWorking, let first = line.first else { return nil }
    switch first {
    case .mark(let number):
      line.removeFirst()
      return .mark(number)
    case .acknowledge(let state):
      line.removeFirst()
      isWorking = true
      return .acknowledge(state)
    case .upload(_, let seen, _):
      var (uploads, whole, bytes, wholeBytes): ([Upload], Int, Int, Int) = ([], 0, 0, 0)
      for step in line {
        guard case .upload(let upload, seen, let size) = step else { break }
        uploads.append(upload)
        bytes += size
        if !upload.isContinued { (whole, wholeBytes) = (uploads.count, bytes) }
      }
      guard whole > 0 else { return nil }
      line.removeFirst(whole)
      waiting -= wholeBytes
      isWorking = true
      judging = uploads.prefix(whole).map(\.clientSeq)
      return .commit(Array(uploads.prefix(whole)), refusalSeen: seen, bytes: wholeBytes)
    }
  }

  /// Puts a mark into the line: behind all that is whole, as the rest of a transaction may come much later.
  mutating func append(mark: UInt64) {
    var place = line.count
    while place > 0, case .upload(let upload, _, _) = line[place - 1], upload.isContinued { place -= 1 }
    line.insert(.mark(mark), at: place)
  }

  /// How many marks are in the line.
  var waitingMarks: Int { line.count { if case .mark = $0 { true } else { false } } }

  enum NextStep {
    case mark(UInt64)
    case commit([Upload], refusalSeen: Seq, bytes: Int)
    case acknowledge(Acknowledgement)
  }
}
