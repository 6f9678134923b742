import SyncModel

/// The pages of objects that a client has from an earlier connection, when it asks for the rest.
///
/// Pages of one walk may come on several connections, as they may come over a long time on one: each object knows the last entry that it
/// includes, and the entries after `asOf` follow the last page. A server goes on only if nothing has happened since that would make the
/// rest belong to something else; otherwise it begins again with the first page.
public struct BegunPages: Hashable, Sendable {
  /// What the pages are: `.delta` or `.snapshot`.
  public var mode: Bound.Mode
  /// The history of the store that they came from.
  public var history: [UInt8]
  /// The entry as of which the first page was.
  public var asOf: Seq
  /// The purge that is in all of them.
  public var stable: Seq
  /// The last own changeset that the server had judged (`Bound.judged`): all up to it are in the pages, and no other may be by now.
  public var judged: UInt64
  /// The last refusal of the replica (`Bound.refusal`).
  public var refusal: Seq
  /// Where the next page begins, in the server's words (`StatePage.next`). Empty if the server has not said it.
  public var next: [UInt8]

  /// The longest `next` that is accepted, in bytes.
  public static let nextBytes = 4 << 10

  /// Creates a description without checking its parts.
  public init(mode: Bound.Mode, history: [UInt8], asOf: Seq, stable: Seq, judged: UInt64, refusal: Seq, next: [UInt8]) {
    (self.mode, self.history, self.asOf, self.stable) = (mode, history, asOf, stable)
    (self.judged, self.refusal, self.next) = (judged, refusal, next)
  }
}

extension ByteWriter {
  package mutating func put(_ begun: BegunPages) {
    put(byte: begun.mode.rawValue)
    put(begun.history)
    put(seq: begun.asOf)
    put(seq: begun.stable)
    put(begun.judged)
    put(seq: begun.refusal)
    put(begun.next)
  }
}

extension ByteReader {
  package mutating func begunPages() throws(CodingError) -> BegunPages {
    let start = position
    let code = try byte()
    guard let mode = Bound.Mode(rawValue: code), mode == .delta || mode == .snapshot else { throw CodingError(.code(code), at: start) }
    let history = try bytes()
    guard history.count == Bind.historyBytes else { throw error(.value) }
    let (asOf, stable) = (try logSeq(), try logSeq())
    let judged = try number()
    let refusal = try logSeq()
    let next = try bytes()
    guard next.count <= BegunPages.nextBytes else { throw error(.value) }
    return BegunPages(mode: mode, history: history, asOf: asOf, stable: stable, judged: judged, refusal: refusal, next: next)
  }
}
