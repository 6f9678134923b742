import SyncModel
import SyncProtocol

/// What a rule works with: the server, who the user is there, and a store that nobody else uses.
package struct Exchange: Sendable {
  let connector: any SyncConnector
  let token: String
  /// A new one for each rule.
  let path: String
  /// How long an answer may take.
  let patience: Duration
  /// The token of somebody else; nil if nobody is known.
  let otherToken: String?
  /// Has the server forget the entries that the log of a store has so far, and nothing else; nil if nobody knows how.
  private let forget: (@Sendable (_ path: String) async throws -> Void)?

  /// - Parameters:
  ///   - path: of a store that does not exist yet; the user must be allowed to make it.
  ///   - otherToken: the token of another user.
  ///   - forget: has the server forget the entries that the log of a store has so far.
  package init(
    connector: any SyncConnector, token: String, path: String, patience: Duration = .seconds(10), otherToken: String? = nil,
    forget: (@Sendable (_ path: String) async throws -> Void)? = nil
  ) {
    (self.connector, self.token, self.path, self.patience) = (connector, token, path, patience)
    (self.otherToken, self.forget) = (otherToken, forget)
  }

  /// Whether there is what a rule needs.
  package func has(_ need: Rule.Need?) -> Bool {
    switch need {
    case .anotherUser: otherToken != nil
    case .forgetting: forget != nil
    case nil: true
    }
  }

  /// The log of the store begins behind its last entry from now on.
  func forgetLog() async throws {
    guard let forget else { throw Fault("nobody knows how the server forgets entries") }
    try await forget(path)
  }

  func connection() async throws -> RuleConnection { try await RuleConnection(connector, patience: patience) }

  func hello(versions: [UInt16] = [1], features: SyncFeatures = [], token other: String? = nil) -> ClientMessage {
    .hello(Hello(versions: versions, features: features, token: other ?? token, device: "conformance"))
  }

  func bind(
    _ replica: UInt64, session: UInt32 = 1, path other: String? = nil, secret: UInt8? = nil, cursor: Seq = .zero, history: [UInt8] = [],
    refusalSeen: Seq = .zero, pendingBase: Seq? = nil
  ) -> ClientMessage {
    .bind(
      session: session,
      Bind(
        path: other ?? path, replica: ReplicaID(replica),
        secret: [UInt8](repeating: secret ?? UInt8(truncatingIfNeeded: replica), count: 16), cursor: cursor, history: history,
        refusalSeen: refusalSeen, pendingBase: pendingBase ?? cursor, schemaHash: 0))
  }

  /// A connection that is bound to the store, has taken its objects, and has granted bytes.
  func live(
    _ replica: UInt64, features: SyncFeatures = [], cursor: Seq = .zero, history: [UInt8] = []
  ) async throws -> (RuleConnection, Bound, Welcome) {
    let (connection, bound, welcome) = try await begun(replica, features: features, cursor: cursor, history: history)
    if bound.mode == .snapshot || bound.mode == .delta { _ = try await connection.pages() }
    return (connection, bound, welcome)
  }

  /// A connection that is bound to the store and has granted bytes.
  func begun(
    _ replica: UInt64, features: SyncFeatures = [], cursor: Seq = .zero, history: [UInt8] = []
  ) async throws -> (RuleConnection, Bound, Welcome) {
    let connection = try await connection()
    let bind = bind(replica, cursor: cursor, history: history)
    try await connection.send(hello(features: features), bind, .credit(session: 1, bytes: 1 << 20))
    let welcome = try await connection.welcome()
    return (connection, try await connection.bound(), welcome)
  }

  /// A connection that is let in.
  func welcomed(_ features: SyncFeatures = []) async throws -> (RuleConnection, Welcome) {
    let connection = try await connection()
    try await connection.send(hello(features: features))
    return (connection, try await connection.welcome())
  }

  /// A changeset of a replica that makes an object and gives it a name.
  static func creation(
    _ replica: UInt64, _ number: UInt64, time: UInt64, isContinued: Bool = false, text: String? = nil
  ) -> Changeset {
    let object = ObjectIdentity("Thing", .int(Int64(number)))
    return Changeset(
      clientSeq: number, baseSeq: .zero, isContinued: isContinued,
      first: Stamp(milliseconds: time + number * 10, counter: 0, replica: ReplicaID(replica)),
      operations: [
        SyncModel.Operation(object, epoch: .zero, .create),
        SyncModel.Operation(object, epoch: .zero, .set("name", .string(text ?? "\(replica).\(number)"), isDefault: false)),
      ])
  }

  /// A changeset that acts in an incarnation which nobody has made.
  static func baseless(_ replica: UInt64, _ number: UInt64, time: UInt64) -> Changeset {
    let object = ObjectIdentity("Thing", .int(Int64(number)))
    let nobody = Stamp(milliseconds: time, counter: 7, replica: ReplicaID(replica &+ 1_000))
    return Changeset(
      clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: time + number * 10, counter: 0, replica: ReplicaID(replica)),
      operations: [SyncModel.Operation(object, epoch: nobody, .set("name", .string("nowhere"), isDefault: false))])
  }
}
