import SyncModel
import SyncProtocol
import SyncServer

/// Speaks to a host message by message, as any implementation may.
actor RawClient {
  private let transport: any SyncTransport
  private let encoder = FrameEncoder()
  private var decoder = FrameDecoder()

  init(_ host: SyncHost) {
    let (here, there) = MemoryTransport.pair(capacity: 64)
    transport = here
    Task { await host.serve(there) }
  }

  /// Says hello and binds, and returns the server's answer to that.
  static func bound(
    _ host: SyncHost, as user: String, _ replica: UInt64, path: String = "/shared/shop", cursor: Seq = .zero, history: [UInt8] = []
  ) async throws -> (RawClient, Bound?) {
    let client = RawClient(host)
    try await client.hello(user)
    try await client.bind(replica, path: path, cursor: cursor, history: history)
    guard case .welcome = try await client.next() else { return (client, nil) }
    guard case .bound(1, let bound) = try await client.next() else { return (client, nil) }
    return (client, bound)
  }

  func hello(_ token: String, versions: [UInt16] = [1], features: SyncFeatures = []) async throws {
    try await send(.hello(Hello(versions: versions, features: features, token: token)))
  }

  func bind(
    _ replica: UInt64, session: UInt32 = 1, path: String = "/shared/shop", cursor: Seq = .zero, history: [UInt8] = [],
    credit: UInt64 = 1 << 20
  ) async throws {
    try await send(
      .bind(
        session: session,
        Bind(
          path: path, replica: ReplicaID(replica), secret: [UInt8(truncatingIfNeeded: replica)], cursor: cursor, history: history,
          refusalSeen: .zero, pendingBase: cursor, schemaHash: 0)))
    if credit > 0 { try await send(.credit(session: session, bytes: credit)) }
  }

  func send(_ message: ClientMessage) async throws { try await transport.send(try encoder.parts(of: message.frame)) }

  func send(raw part: [UInt8]) async throws { try await transport.send([part]) }

  /// The next message; nil after the end.
  func next() async throws -> ServerMessage? {
    while let part = try await transport.receive() {
      if let frame = try decoder.take(part) { return try ServerMessage(frame) }
    }
    return nil
  }

  /// All messages up to the first that passes the test, which is the last; nil at the end for one that never came.
  func messages(until isLast: @Sendable (ServerMessage) -> Bool) async throws -> [ServerMessage] {
    var all: [ServerMessage] = []
    while let message = try await next() {
      all.append(message)
      if isLast(message) { break }
    }
    return all
  }

  func close() async { await transport.close() }
}

/// Access as a test says.
struct TestAccess: SyncAccess {
  var rights: [String: Bound.Rights] = [:]
  var expires: Int64?

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    guard rights.keys.contains(token) else { throw SyncRefusal(.tokenInvalid) }
    if let expires, expires <= time { throw SyncRefusal(.tokenExpired) }
    return SyncIdentity(user: token, expires: expires)
  }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    path.text.hasPrefix("/\(identity.user)/") ? .all : StoreGrant(rights[identity.user] ?? [], mayCreate: true)
  }
}

/// A changeset that creates an object, or gives it a name.
func changeset(_ replica: UInt64, _ number: UInt64, of id: Int64 = 1, creates: Bool = true, base: UInt64 = 0) -> Changeset {
  let object = ObjectIdentity("Thing", .int(id))
  let first = Stamp(milliseconds: 1_000 + number * 10, counter: 0, replica: ReplicaID(replica))
  let create = [SyncModel.Operation(object, epoch: .zero, .create)]
  let set = [SyncModel.Operation(object, epoch: .zero, .set("name", .string("\(replica).\(number)"), isDefault: false))]
  return Changeset(clientSeq: number, baseSeq: Seq(base), first: first, operations: (creates ? create : []) + set)
}
