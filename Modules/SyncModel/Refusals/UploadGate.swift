/// What a server remembers of a replica to take each of its changesets once, in order, and none that was uploaded before
/// the replica heard of a refusal.
///
/// The barrier is go-back-N: after a refusal all uploads are ignored, unanswered, until the replica reports that it has
/// integrated it. By then it has marked void what builds on the refused changeset, and uploads the rest again.
public struct UploadGate: Hashable, Sendable {
  /// The last changeset that was answered: accepted or refused.
  public private(set) var answered: UInt64
  /// The place in the log of the last refusal; `.zero` before the first.
  public private(set) var refused: Seq

  /// What was stored; by default what is remembered of a replica that has uploaded nothing.
  public init(answered: UInt64 = 0, refused: Seq = .zero) {
    self.answered = answered
    self.refused = refused
  }

  /// What becomes of an upload.
  public enum Admission: Hashable, Sendable {
    /// The next one: accept or refuse it.
    case next
    /// Answered before. Nothing to do: the answer is in the log.
    case duplicate
    /// The replica has not seen the last refusal. Ignore it.
    case behindRefusal
    /// A changeset is missing before it: an error of the client.
    case gap(expected: UInt64)
  }

  /// What to do with an upload.
  ///
  /// - Parameter refusalSeen: the last refusal that the replica has integrated, as it reports with each upload.
  public func admit(_ clientSeq: UInt64, refusalSeen: Seq) -> Admission {
    if clientSeq <= answered { return .duplicate }
    if refusalSeen < refused { return .behindRefusal }
    return clientSeq - 1 == answered ? .next : .gap(expected: answered + 1)
  }

  /// Takes note that a changeset was accepted. One that was answered before changes nothing.
  public mutating func accept(_ clientSeq: UInt64) { answered = max(answered, clientSeq) }

  /// Takes note that a changeset was refused. Until the replica has integrated the answer, `admit` ignores its uploads.
  ///
  /// - Parameter seq: the place of the answer in the log.
  public mutating func refuse(_ clientSeq: UInt64, at seq: Seq) {
    answered = max(answered, clientSeq)
    refused = max(refused, seq)
  }
}
