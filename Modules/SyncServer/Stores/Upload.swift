import SyncModel
import SyncProtocol

/// An upload of a replica.
public enum Upload: Hashable, Sendable {
  case changeset(Changeset)
  /// Replaces a changeset that will not come, because it built on a refused one; the replica wants the state of these objects.
  case void(clientSeq: UInt64, objects: [ObjectIdentity])

  /// The number of the upload in its replica.
  public var clientSeq: UInt64 {
    switch self {
    case .changeset(let changeset): changeset.clientSeq
    case .void(let clientSeq, _): clientSeq
    }
  }

  /// Whether the next upload belongs to the same transaction.
  var isContinued: Bool {
    if case .changeset(let changeset) = self { return changeset.isContinued }
    return false
  }
}

/// The outcome of an upload.
public enum UploadOutcome: Hashable, Sendable {
  /// Committed as an entry of the log, durably.
  case accepted(Seq)
  /// Refused; an entry of the log says so to its author.
  case refused(Seq, SyncErrorCode)
  /// A repetition. Ignored.
  case duplicate
  /// Another changeset of the number was judged: the author's file was copied or restored, or did its changes again while an earlier
  /// connection's upload was still under way. Ignored, with all that follows; the author begins anew as another replica.
  case forked
  /// The author has not seen the last refusal yet. Ignored; it must be sent again.
  case behindRefusal
  /// An upload before it is missing. Ignored; it must be sent again in order.
  case gap(expected: UInt64)
  /// Its stamps, or stamps that it names, are too far ahead of the server's clock, or its stamps are not above the floor of the last purge.
  /// Ignored; it must be stamped again.
  case skewed
  /// The rest of its transaction is missing. Ignored; it must be sent again as a whole.
  case incomplete
}

/// Judges uploads beyond the model's own checks: permissions and rules.
///
/// Called once for each transaction of a replica, within the store's commit: it must be quick, and must not call the store. nil accepts
/// the transaction.
public typealias UploadJudge = @Sendable (UploadCase) -> Verdict?

/// The server's own rules for transactions of users with the right to write.
///
/// ```swift
/// let rules: WriteRules = { path, transaction in
///   for object in transaction.objects where object.className == Name("Order") {
///     // Of a new order by what it says of itself, of one that is there by what it said before.
///     let owner = transaction.before(object)?["owner"] ?? transaction.after(object)?["owner"]
///     if owner != .string(transaction.user) { return Verdict(.writeDenied, "An order is changed by who has made it.") }
///   }
///   return nil
/// }
/// ```
///
/// Called within the store's commit, as an `UploadJudge`. What is written into an object that does not exist, where no rule could see it,
/// is refused before (`SyncErrorCode.invalidChange`).
public typealias WriteRules = @Sendable (StorePath, UploadCase) -> Verdict?

/// Why a transaction is refused.
public struct Verdict: Hashable, Sendable {
  /// `.writeDenied` or `.invalidChange`.
  public var code: SyncErrorCode
  /// For the user.
  public var text: String

  /// Creates a refusal.
  public init(_ code: SyncErrorCode, _ text: String = "") { (self.code, self.text) = (code, text) }
}

/// A transaction to judge: its user, its changesets, and the objects before and after it.
public struct UploadCase {
  /// The user of the replica.
  public let user: String
  /// All changesets of the transaction.
  public let changesets: [Changeset]
  let read: (ObjectIdentity, Bool) -> ObjectState?
  let record: (ObjectIdentity, Bool) -> ObjectRecord?

  /// - Parameter record: as `read`, without the elements of lists.
  init(
    user: String, changesets: [Changeset], read: @escaping (ObjectIdentity, Bool) -> ObjectState?,
    record: @escaping (ObjectIdentity, Bool) -> ObjectRecord?
  ) {
    (self.user, self.changesets, self.read, self.record) = (user, changesets, read, record)
  }

  /// The objects that the transaction acts on, in order.
  public var objects: [ObjectIdentity] {
    changesets.reduce(into: Set<ObjectIdentity>()) { $0.formUnion($1.objects) }.sorted()
  }

  /// An object without the transaction; nil if it does not exist.
  public func before(_ object: ObjectIdentity) -> ObjectState? { state(of: object, isAfter: false) }

  /// An object with the transaction; nil if it does not exist.
  public func after(_ object: ObjectIdentity) -> ObjectState? { state(of: object, isAfter: true) }

  /// A store keeps something of a deleted object for a while; it does not exist for all that.
  private func state(of object: ObjectIdentity, isAfter: Bool) -> ObjectState? {
    guard let state = read(object, isAfter), state.record.isAlive else { return nil }
    return state
  }
}
