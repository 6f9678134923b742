import SyncModel
import SyncProtocol

/// What a replica has sent.
public enum Upload: Hashable, Sendable {
  case changeset(Changeset)
  /// A changeset that will not come, because it built on a refused one; the replica wants the state of these objects.
  case void(clientSeq: UInt64, objects: [ObjectIdentity])

  /// Its place among the uploads of its replica.
  public var clientSeq: UInt64 {
    switch self {
    case .changeset(let changeset): changeset.clientSeq
    case .void(let clientSeq, _): clientSeq
    }
  }

  /// Whether the next upload is of the same transaction.
  var isContinued: Bool {
    if case .changeset(let changeset) = self { return changeset.isContinued }
    return false
  }
}

/// What became of an upload.
public enum UploadOutcome: Hashable, Sendable {
  /// It is an entry of the log, durably.
  case accepted(Seq)
  /// It is refused; an entry of the log says so to its author.
  case refused(Seq, SyncErrorCode)
  /// It came before. Nothing was done.
  case duplicate
  /// The author has not seen his last refusal yet. Nothing was done, and it has to come again.
  case behindRefusal
  /// An upload before it is missing. Nothing was done, and it has to come again in order.
  case gap(expected: UInt64)
  /// It, or what it names, is dated too far ahead of the server's clock. Nothing was done, and it has to be dated anew.
  case skewed
  /// The rest of its transaction has not come with it. Nothing was done, and it has to come again as a whole.
  case incomplete
}

/// What judges uploads beyond what the model knows: permissions and rules.
///
/// Called once for each transaction of a replica, within the store's commit: it must be quick, and must not call the store. nil lets it in.
public typealias UploadJudge = @Sendable (UploadCase) -> Verdict?

/// What judges the transactions of users who may write in a store: rules of the server's own.
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
/// Called within the store's commit, as an `UploadJudge`.
public typealias WriteRules = @Sendable (StorePath, UploadCase) -> Verdict?

/// Why a transaction is refused.
public struct Verdict: Hashable, Sendable {
  /// `.writeDenied` or `.invalidChange`.
  public var code: SyncErrorCode
  /// For the user.
  public var text: String

  /// A refusal of its parts.
  public init(_ code: SyncErrorCode, _ text: String = "") { (self.code, self.text) = (code, text) }
}

/// What a judge sees: who, what, and the objects it acts on as they were and as they would be.
public struct UploadCase {
  /// Whose replica it is.
  public let user: String
  /// All changesets of the transaction.
  public let changesets: [Changeset]
  private let read: (ObjectIdentity, Bool) -> ObjectState?

  init(user: String, changesets: [Changeset], read: @escaping (ObjectIdentity, Bool) -> ObjectState?) {
    (self.user, self.changesets, self.read) = (user, changesets, read)
  }

  /// All objects that the transaction acts on, in order.
  public var objects: [ObjectIdentity] {
    changesets.reduce(into: Set<ObjectIdentity>()) { $0.formUnion($1.objects) }.sorted()
  }

  /// An object without the transaction; nil for one that is not there.
  public func before(_ object: ObjectIdentity) -> ObjectState? { read(object, false) }

  /// An object with it.
  public func after(_ object: ObjectIdentity) -> ObjectState? { read(object, true) }
}
