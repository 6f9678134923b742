import Logging
import SyncModel
import SyncProtocol
import Synchronization
import Testing

@testable import SyncServer

/// What a host logs.
private final class Lines: Sendable {
  private let kept = Mutex<[(level: Logger.Level, text: String)]>([])

  var all: [(level: Logger.Level, text: String)] { kept.withLock { $0 } }

  func add(_ level: Logger.Level, _ text: String) { kept.withLock { $0.append((level, text)) } }

  var logger: Logger { Logger(label: "test") { _ in Keeper(lines: self) } }
}

private struct Keeper: LogHandler {
  let lines: Lines
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]

  init(lines: Lines) { self.lines = lines }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.add(event.level, "\(event.message) \(event.metadata ?? [:])") }
}

/// Access by a directory that cannot be read: not at all, or not for rights.
private struct UnreadableAccess: SyncAccess {
  static let error = ServerStoreError(.unavailable, "The users cannot be read from '/srv/users'. Make room there.")
  let knowsUsers: Bool

  func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
    guard knowsUsers else { throw SyncRefusal(UnreadableAccess.error) }
    return SyncIdentity(user: token)
  }

  func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant {
    throw SyncRefusal(UnreadableAccess.error)
  }
}

@Suite("A server that cannot use its data")
struct UnavailableStoresTests {
  @Test("tells clients to wait, and nothing that only the operator can use", arguments: [true, false])
  func clients(knowsUsers: Bool) async throws {
    let host = SyncHost(stores: MemoryServerStore(), access: UnreadableAccess(knowsUsers: knowsUsers), clock: { 1_000_000 })
    let client = RawClient(host)
    try await client.hello("ann")
    try await client.bind(1)
    if knowsUsers { _ = try await client.next() }
    let session: UInt32 = knowsUsers ? 1 : 0
    #expect(try await client.next() == .error(session: session, code: .storageUnavailable, retryAfterSeconds: 0, text: ""))
    #expect(SyncErrorCode.storageUnavailable.reaction == .wait)
  }

  @Test("tells the operator why, as an error of the log, and counts it, whatever was asked for")
  func operators() {
    let lines = Lines()
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), logger: lines.logger)
    let (error, key) = (UnreadableAccess.error, SessionKey(session: 1, serial: 1))
    let events: [ServerConnectionEvent] = [
      .verified(.failure(SyncRefusal(error))), .bound(key, .failure(SyncRefusal(error))), .committed(key, .failure(error)),
      .declared(key, .failure(error)), .acknowledged(key, .failure(error)), .entries(key, .failure(error)),
      .objects(key, .failure(error)), .head(key, mark: 1, .failure(error)), .expel(SyncRefusal(error)),
    ]
    for event in events { host.note(event, of: 7) }
    host.note(SyncRefusal(error))
    #expect(lines.all.count == events.count + 1)
    for line in lines.all { #expect(line.level == .error && line.text.contains("'/srv/users'") && line.text.contains("302")) }
    #expect(host.counts.numbers.refusals == [.storageUnavailable: UInt64(events.count) + 1])
  }

  @Test("is another matter than a client that does something wrong, or is slow")
  func others() {
    let lines = Lines()
    let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess(), logger: lines.logger)
    let key = SessionKey(session: 1, serial: 1)
    host.note(.verified(.failure(SyncRefusal(.tokenInvalid))), of: 7)
    host.note(.entries(key, .failure(ServerStoreError(.logTruncated, "It is gone."))), of: 7)
    host.note(SyncRefusal(.badFrame, "It is no JSON."))
    #expect(lines.all.map { $0.level } == [.notice, .notice])
    #expect(host.counts.numbers.refusals == [.tokenInvalid: 1, .overloaded: 1])
  }
}
