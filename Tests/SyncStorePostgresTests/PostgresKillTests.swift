#if Sync
import Foundation
import SyncModel
import SyncProtocol
import SyncServer
import SyncServerConformance
import Testing
import VivariumTestSupport

@testable import SyncStorePostgres

/// A server's process that is killed.
final class KilledServer {
  private let process = Process()
  private let output = Pipe()
  private var rest = ""
  /// The changesets that were answered: replica, number.
  private(set) var answered: Set<[UInt64]> = []

  init(_ address: String, _ path: StorePath, _ replicas: [UInt64]) throws {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles.first ?? URL(fileURLWithPath: CommandLine.arguments[0])
    process.executableURL = tests.deletingLastPathComponent().appending(path: "postgres-child")
    process.arguments = [address, path.text] + replicas.map { "\($0)" }
    process.standardOutput = output
    try process.run()
    try output.fileHandleForWriting.close()
  }

  /// Waits until it has answered so many more, or has ended.
  func wait(for count: Int) {
    let goal = answered.count + count
    while answered.count < goal, take() {}
  }

  private func take() -> Bool {
    let data = output.fileHandleForReading.availableData
    rest += String(decoding: data, as: UTF8.self)
    var lines = rest.split(separator: "\n", omittingEmptySubsequences: false)
    // A line that is cut was perhaps never answered.
    rest = String(lines.removeLast())
    for line in lines {
      let numbers = line.split(separator: " ")
      guard numbers.count == 2, let replica = UInt64(numbers[0], radix: 16), let number = UInt64(numbers[1]) else { continue }
      answered.insert([replica, number])
    }
    return !data.isEmpty
  }

  func killNow() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    while take() {}
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}

@Suite("Servers of one database that are killed", .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct PostgresKillTests {
  @Test("lose nothing that was answered, and count nothing twice")
  func kills() async throws {
    var random = SeededGenerator.forTest()
    let path = RandomAuthor.path
    let (stores, address) = try await PostgresServerStore.forTest()
    try await stores.makeStore(path)
    let replicas: [[UInt64]] = [[1, 2, 3], [4, 5, 6]]
    var servers = try replicas.map { try KilledServer(address, path, $0) }
    var answered: Set<[UInt64]> = []
    for round in 0..<environmentNumber("VIVARIUM_SERVER_KILLS", default: 10) {
      let at = round % 2
      servers[at].wait(for: 1 + random.below(60))
      servers[at].killNow()
      answered.formUnion(servers[at].answered)
      servers[at] = try KilledServer(address, path, replicas[at])
    }
    for server in servers {
      server.wait(for: 10)
      server.killNow()
      answered.formUnion(server.answered)
    }
    // The database may still be ending a transaction that was sent whole: whoever comes next waits for it.
    for replica in 1...6 { _ = try await stores.bind(path, ReplicaID(UInt64(replica)), secret: [1], user: "u", at: 2) }
    var (found, cursor) = ([[UInt64]](), Seq.zero)
    while true {
      let page = try await stores.changes(path, for: ReplicaID(1 << 40), after: cursor, limitBytes: 1 << 16)
      for entry in page.entries {
        #expect(entry.seq.rawValue == UInt64(found.count) + 1)
        guard case .changeset(_, let changeset) = entry.body else { continue }
        found.append([changeset.author.rawValue, changeset.clientSeq])
      }
      cursor = page.cursor
      if cursor == page.head { break }
    }
    #expect(Set(found).count == found.count)
    #expect(answered.isSubset(of: found))
    for replica in UInt64(1)...6 {
      let numbers = found.filter { $0[0] == replica }.map { $0[1] }
      #expect(numbers == (0..<UInt64(numbers.count)).map { $0 + 1 })
    }
    let objects = try await stores.objects(path, changedAfter: .zero, behind: nil, limitBytes: .max).objects
    #expect(objects.count == found.count + 1)
    let count = objects.first { $0.identity == ObjectIdentity("Counter", .int(1)) }?.state.record.node.contents.values["count"]?.visible
    #expect(count == .int(Int64(found.count)))
    await stores.close()
  }

  @Test("go on when the database ends their connections")
  func lostConnections() async throws {
    let path = RandomAuthor.path
    let (stores, address) = try await PostgresServerStore.forTest()
    try await stores.makeStore(path)
    _ = try await stores.bind(path, ReplicaID(1), secret: [1], user: "u", at: 1)
    let cluster = try #require(try PostgresCluster.shared.get())
    let name = try #require(address.split(separator: "=").last)
    for number in 1...5 {
      try await cluster.control(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND pid <> pg_backend_pid()")
      let outcomes = try await stores.commit(
        path, ReplicaID(1), [.changeset(.creating(UInt64(number), by: ReplicaID(1)))], refusalSeen: .zero, at: 1_000_000) { _ in nil }
      #expect(outcomes == [.accepted(Seq(UInt64(number)))])
    }
    await stores.close()
  }
}
#endif
