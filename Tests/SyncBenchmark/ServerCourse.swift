import Foundation
import SyncModel
import SyncProtocol
import SyncServer
import SyncStoreEmbedded
import SyncStorePostgres

/// What a server's stores take in and give out, without any network.
struct ServerCourse {
  /// Where stores are kept.
  enum Home: String {
    case memory, embedded, postgres
  }

  let home: Home
  let folder: URL
  /// Of a database whose tables may be filled; for `postgres`.
  let address: String?
  let scale: Double

  /// The same for the server's program, as its arguments.
  var place: [String] {
    get throws {
      switch home {
      case .memory: throw CocoaError(.featureUnsupported)
      case .embedded: ["--folder", folder.appendingPathComponent(UUID().uuidString).path]
      case .postgres: ["--postgres", address ?? ""]
      }
    }
  }

  private func scaled(_ count: Int) -> Int { max(Int(Double(count) * scale), 100) }

  /// - Parameter batch: the most changes that share a transaction, where the home has a choice.
  private func stores(batch: Int) async throws -> any SyncServerStore {
    switch home {
    case .memory: return MemoryServerStore()
    case .embedded: return try EmbeddedServerStore(folder: folder.appendingPathComponent(UUID().uuidString).path)
    case .postgres:
      #if Sync
      guard let address else { throw CocoaError(.featureUnsupported) }
      var configuration = PostgresServerStore.Configuration()
      configuration.batch = batch
      return try await PostgresServerStore(address, makesTables: true, configuration: configuration)
      #else
      throw CocoaError(.featureUnsupported)
      #endif
    }
  }

  private func end(_ stores: any SyncServerStore) async {
    #if Sync
    await (stores as? PostgresServerStore)?.close()
    #endif
  }

  /// S5: changesets of three operations, each answered when it is on the disk. Each writer waits for its answer.
  func commits(_ name: String, stores count: Int, writers: Int, batch: Int = 128) async throws -> Measurement {
    let stores = try await stores(batch: batch)
    let paths = (0..<count).compactMap { StorePath("/bench/\(UInt32.random(in: 0 ... .max))-\($0)") }
    for path in paths { try await stores.makeStore(path) }
    let each = scaled(8_000) / writers + 1
    let replicas = (0..<writers).map { ReplicaID(UInt64($0 + 1)) }
    for (index, replica) in replicas.enumerated() {
      _ = try await stores.bind(paths[index % count], replica, secret: [1], user: "ann", at: 0)
    }
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, replica) in replicas.enumerated() {
        group.addTask {
          for number in 1...each {
            let outcomes = try await stores.commit(
              paths[index % count], replica, [ServerCourse.upload(UInt64(number), replica)], refusalSeen: .zero, at: 1_800_000_000_000
            ) { _ in nil }
            guard case .accepted = outcomes.first else { throw CocoaError(.coderInvalidValue) }
          }
        }
      }
      try await group.waitForAll()
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await end(stores)
    let all = each * writers
    return Measurement(
      engine: home.rawValue, workload: name, count: all, seconds: seconds,
      note: "\(Int(Double(all) / seconds)) changesets/s, \(count) stores, \(writers) writers")
  }

  private static func upload(_ number: UInt64, _ replica: ReplicaID) -> Upload {
    let object = ObjectIdentity("Item", .int(Int64(replica.rawValue << 32 | number)))
    return .changeset(
      Changeset(
        clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_700_000_000_000 + number, counter: 0, replica: replica),
        operations: [
          Operation(object, epoch: .zero, .create),
          Operation(object, epoch: .zero, .set("title", .string("the title of \(number)"), isDefault: false)),
          Operation(object, epoch: .zero, .set("count", .int(Int64(number)), isDefault: false)),
        ]))
  }

  /// S9: all objects of a store in pages, as the bytes that are sent.
  func snapshot() async throws -> Measurement {
    let stores = try await stores(batch: 128)
    guard let path = StorePath("/bench/\(UInt32.random(in: 0 ... .max))") else { throw CocoaError(.coderInvalidValue) }
    try await stores.makeStore(path)
    let count = scaled(100_000)
    let replica = ReplicaID(1)
    _ = try await stores.bind(path, replica, secret: [1], user: "ann", at: 0)
    for start in stride(from: 1, through: count, by: 500) {
      let uploads = (start..<min(start + 500, count + 1)).map { ServerCourse.upload(UInt64($0), replica) }
      _ = try await stores.commit(path, replica, uploads, refusalSeen: .zero, at: 1_800_000_000_000) { _ in nil }
    }
    let start = ContinuousClock.now
    var (last, served, bytes) = (ObjectIdentity?.none, 0, 0)
    while true {
      let page = try await stores.objects(path, changedAfter: .zero, behind: last, limitBytes: 256 << 10)
      bytes += ServerMessage.state(session: 1, page).frame.body.count
      served += page.objects.count
      last = page.objects.last?.identity
      if page.isLast { break }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    await end(stores)
    return Measurement(
      engine: home.rawValue, workload: "S9.snapshot", count: served, seconds: seconds, bytes: bytes,
      note: "\(Int(Double(served) / seconds)) objects/s")
  }
}
