import SyncProtocol
import SyncServer
import Synchronization
import Testing

@Suite("The number of stores that a user may make")
struct StoreQuotaTests {
  /// The milliseconds of a host's clock.
  private final class Time: Sendable {
    private let now = Mutex<Int64>(1_000_000)
    var milliseconds: Int64 { now.withLock { $0 } }
    func pass(_ milliseconds: Int64) { now.withLock { $0 += milliseconds } }
  }

  private let stores = MemoryServerStore()
  private let time = Time()

  private func host(_ limit: Int?, _ access: any SyncAccess = OpenAccess()) -> SyncHost {
    var configuration = ServerConnectionConfiguration()
    configuration.storesOfUser = limit
    return SyncHost(stores: stores, access: access, configuration: configuration, clock: { [time] in time.milliseconds })
  }

  /// Why a store is not bound; nil where it is.
  private func refusal(_ host: SyncHost, _ user: String, _ path: String) async throws -> SyncErrorCode? {
    let client = RawClient(host)
    try await client.hello(user)
    try await client.bind(UInt64(path.utf8.count) + 1, path: path, credit: 0)
    let answers = try await client.messages { message in
      switch message {
      case .bound, .error: true
      default: false
      }
    }
    await client.close()
    guard case .error(_, let code, _, let text)? = answers.last else { return nil }
    #expect(text.contains("2 stores of '\(user)'"))
    return code
  }

  @Test("is refused beyond the limit with a code of its own, and nothing is made")
  func limit() async throws {
    let host = host(2)
    for path in ["/ann/a", "/~/b"] { #expect(try await refusal(host, "ann", path) == nil) }
    for _ in 0..<3 { #expect(try await refusal(host, "ann", "/ann/c") == .quotaExceeded) }
    #expect(SyncErrorCode.quotaExceeded.reaction == .stop)
    #expect(await stores.stores().map(\.text) == ["/ann/a", "/ann/b"])
    #expect(host.counts.numbers.refusals == [.quotaExceeded: 3])
    // What is there, what is nobody's, the management store, and what others have.
    for path in ["/ann/a", "/ann/b", "/shared/c", "/~/__management", "/bob/own"] {
      #expect(try await refusal(host, "ann", path) == nil, "\(path)")
    }
    // Made by Ann, and counted as Bob's, who may have two.
    #expect(try await refusal(host, "bob", "/bob/second") == nil)
    #expect(try await refusal(host, "bob", "/bob/third") == .quotaExceeded)
  }

  @Test("is counted again after a while, because stores are removed, and made by other servers too")
  func removed() async throws {
    let (limited, other) = (host(2), host(nil))
    for (path, server) in [("/ann/a", limited), ("/ann/b", other)] { #expect(try await refusal(server, "ann", path) == nil) }
    time.pass(1_000)
    #expect(try await refusal(limited, "ann", "/ann/c") == .quotaExceeded)
    try await stores.removeStore(try #require(StorePath("/ann/a")))
    time.pass(1_000)
    #expect(try await refusal(limited, "ann", "/ann/c") == nil)
    #expect(try await refusal(limited, "ann", "/ann/d") == .quotaExceeded)
  }

  @Test("is not limited for administrators, or where nobody says so")
  func unlimited() async throws {
    struct Administrators: SyncAccess {
      func identity(ofToken token: String, at time: Int64) async throws(SyncRefusal) -> SyncIdentity {
        SyncIdentity(user: token, isAdministrator: true)
      }
      func grant(to identity: SyncIdentity, on path: StorePath) async throws(SyncRefusal) -> StoreGrant { .all }
    }
    for server in [host(1, Administrators()), host(nil)] {
      for path in ["/ann/a", "/ann/b", "/ann/c"] { #expect(try await refusal(server, "ann", path) == nil) }
    }
  }
}
