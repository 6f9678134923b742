import SyncModel
import SyncProtocol
import SyncServer

/// One rule for stores of a server, as a test that any implementation can be put to.
public struct ServerStoreCheck: Sendable, CustomStringConvertible {
  /// The rule as a sentence: `aGapIsNotTakenIn`.
  public let name: String
  let body: @Sendable (Bench) async throws -> Void

  public var description: String { name }

  init(_ name: String, _ body: @escaping @Sendable (Bench) async throws -> Void) { (self.name, self.body) = (name, body) }

  /// Puts an empty place for stores to the rule. Throws a `ServerStoreFailure`, or what the store threw.
  public func run(_ stores: any SyncServerStore) async throws {
    let bench = Bench(stores: stores)
    try await stores.makeStore(Bench.path)
    try await body(bench)
  }
}

/// A rule that was broken.
public struct ServerStoreFailure: Error, CustomStringConvertible {
  /// What was found, and what was expected.
  public let description: String
}

/// The rules.
public enum SyncServerConformance {
  /// Every rule.
  public static let allChecks: [ServerStoreCheck] =
    uploadChecks + refusalChecks + readingChecks + forgettingChecks + linkChecks + handlerChecks + pastChecks + removalChecks
      + declarationChecks
}

/// A store and two replicas, with short ways to ask.
struct Bench: Sendable {
  /// The text is a path, which StorePathTests says.
  static let path = StorePath("/shared/shop")!
  static let (ann, bob) = (ReplicaID(1), ReplicaID(2))
  static let now: Int64 = 1_000_000

  let stores: any SyncServerStore

  func bind(_ replica: ReplicaID, at time: Int64 = Bench.now) async throws -> Standing {
    try await stores.bind(Bench.path, replica, secret: [UInt8(truncatingIfNeeded: replica.rawValue)], user: "user \(replica)", at: time)
  }

  func bindBoth() async throws {
    _ = try await bind(Bench.ann)
    _ = try await bind(Bench.bob)
  }

  func commit(
    _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq = .zero, at time: Int64 = Bench.now,
    judge: @escaping UploadJudge = { _ in nil }
  ) async throws -> [UploadOutcome] {
    try await stores.commit(Bench.path, replica, uploads, refusalSeen: refusalSeen, at: time, judge: judge)
  }

  func changes(_ replica: ReplicaID, after seq: Seq = .zero, limitBytes: Int = 1 << 20) async throws -> LogPage {
    try await stores.changes(Bench.path, for: replica, after: seq, limitBytes: limitBytes)
  }

  func acknowledge(_ replica: ReplicaID, _ seq: UInt64, pending: UInt64? = nil, at time: Int64 = Bench.now) async throws {
    try await stores.acknowledge(
      Bench.path, replica, Acknowledgement(cursor: Seq(seq), pendingBase: Seq(pending ?? seq), refusalSeen: .zero), at: time)
  }

  func head() async throws -> Seq { try await stores.heads([Bench.path])[Bench.path] ?? .zero }

  static func thing(_ number: Int64) -> ObjectIdentity { ObjectIdentity("Thing", .int(number)) }

  /// A changeset that creates an object and writes its name; the stamps follow the number.
  static func creation(
    _ replica: ReplicaID, _ clientSeq: UInt64, of number: Int64, base: UInt64 = 0, isContinued: Bool = false, milliseconds: UInt64? = nil
  ) -> Upload {
    .changeset(
      Changeset(
        clientSeq: clientSeq, baseSeq: Seq(base), isContinued: isContinued,
        first: Stamp(milliseconds: milliseconds ?? 1_000 + clientSeq, counter: 0, replica: replica),
        operations: [
          Operation(thing(number), epoch: .zero, .create),
          Operation(thing(number), epoch: .zero, .set("name", .string("\(replica).\(clientSeq)"), isDefault: false)),
        ]))
  }

  func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String = "", line: UInt = #line) throws {
    if found != expected { throw ServerStoreFailure(description: "\(what) line \(line): found \(found), expected \(expected)") }
  }

  func expectError(
    _ code: ServerStoreError.Code, line: UInt = #line, _ body: () async throws -> Void
  ) async throws {
    do { try await body() } catch let error as ServerStoreError { return try expect(error.code, code, "error", line: line) }
    throw ServerStoreFailure(description: "line \(line): nothing was thrown, expected \(code)")
  }
}
