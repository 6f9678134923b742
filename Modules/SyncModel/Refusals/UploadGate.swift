/// What a server remembers of a replica to take each of its changesets once, in order, and none that was uploaded before the replica
/// learned of a refusal.
///
/// The barrier is go-back-N: after a refusal the server ignores all uploads, unanswered, until the replica reports that it has integrated
/// the refusal. By then the replica has marked as void what builds on the refused changeset, and uploads the rest again.
public struct UploadGate: Hashable, Sendable {
  /// The last changeset that was answered: accepted or refused.
  public private(set) var answered: UInt64
  /// The place in the log of the last refusal; `.zero` before the first.
  public private(set) var refused: Seq

  /// Creates a gate from stored values; by default for a replica that has uploaded nothing.
  public init(answered: UInt64 = 0, refused: Seq = .zero) {
    self.answered = answered
    self.refused = refused
  }

  /// The verdict on an upload.
  public enum Admission: Hashable, Sendable {
    /// The next one: accept or refuse it.
    case next
    /// Answered before. Ignore it: the answer is in the log.
    case duplicate
    /// The replica has not seen the last refusal. Ignore it.
    case behindRefusal
    /// A changeset before it is missing: an error of the client.
    case gap(expected: UInt64)
  }

  /// The verdict on an upload.
  ///
  /// - Parameter refusalSeen: the last refusal that the replica has integrated, as it reports with each upload.
  public func admit(_ clientSeq: UInt64, refusalSeen: Seq) -> Admission {
    if clientSeq <= answered { return .duplicate }
    if refusalSeen < refused { return .behindRefusal }
    return clientSeq - 1 == answered ? .next : .gap(expected: answered + 1)
  }

  /// Notes that a changeset was accepted. No effect if it was answered before.
  public mutating func accept(_ clientSeq: UInt64) { answered = max(answered, clientSeq) }

  /// Notes that a changeset was refused. `admit` ignores the replica's uploads until it has integrated the refusal.
  ///
  /// - Parameter seq: the place of the refusal in the log.
  public mutating func refuse(_ clientSeq: UInt64, at seq: Seq) {
    answered = max(answered, clientSeq)
    refused = max(refused, seq)
  }
}
