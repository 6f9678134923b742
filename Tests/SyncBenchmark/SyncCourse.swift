import ChangeTracker
import Foundation
import StorageInterface
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium

/// The workloads, on one engine.
@MainActor struct SyncCourse {
  let engine: Engine
  let folder: URL
  let scale: Double

  private func scaled(_ count: Int) -> Int { max(Int(Double(count) * scale), 20) }

  private func store(_ name: String, replica: UInt64) throws -> Store {
    try Store(engine.configuration(folder, name, replica: replica))
  }

  /// Takes entries in as they come from a server: about 64 KiB in one commit.
  private func take(_ entries: [LogEntry], _ store: Store) async throws {
    for start in stride(from: 0, to: entries.count, by: 300) {
      let page = Array(entries[start..<min(start + 300, entries.count)])
      try await store.integrate { write in
        var changes = try RemoteChanges(write)
        for entry in page { try changes.take(entry) }
        try changes.finish()
      }
    }
  }

  private func timed(_ body: () async throws -> Void) async rethrows -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    try await body()
    return (clock.now - start) / .seconds(1)
  }

  private func entries(_ changesets: [Changeset], after first: Int = 0) -> [LogEntry] {
    changesets.enumerated().map { LogEntry(Seq(UInt64($0 + 1 + first)), .changeset(author: "ann", $1)) }
  }

  /// S1: remote operations a second, half of them new objects.
  func integrate() async throws -> Measurement {
    let store = try store("s1", replica: 1)
    let half = scaled(10_000)
    var author = RemoteAuthor(2)
    var changesets = (0..<half).map { author.creation(of: Int64($0 * 2)) }
    for _ in 0..<half { changesets.append(author.change(of: half * 2)) }
    let entries = entries(changesets)
    let seconds = try await timed { try await take(entries, store) }
    let operations = entries.count * 10
    return Measurement(
      engine: engine.rawValue, workload: "S1.integrate", count: operations, seconds: seconds,
      note: "\(Int(Double(operations) / seconds)) operations/s")
  }

  /// S2: own changes that wait, and what others did to the same objects meanwhile.
  ///
  /// - Parameter part: 2 for half of both.
  func rebase(part: Int) async throws -> Measurement {
    let store = try store("s2.\(part)", replica: 1)
    let (own, remote) = (scaled(10_000) / part, scaled(100_000) / part)
    try store.write {
      for id in 0..<own {
        let item = Item()
        item.id = id
        try store.add(item)
      }
    }
    for id in 0..<own {
      guard let item = store.object(Item.self, forPrimaryKey: id) else { continue }
      try store.write { item.title = "mine" }
    }
    var author = RemoteAuthor(2)
    var all = entries((0..<remote / 10).map { _ in author.change(of: own) })
    let count = all.count
    for number in 1...own + 1 { all.append(LogEntry(Seq(UInt64(count + number)), .own(clientSeq: UInt64(number)))) }
    let entries = all
    let seconds = try await timed { try await take(entries, store) }
    return Measurement(
      engine: engine.rawValue, workload: part == 1 ? "S2.rebase" : "S2.rebase.half", count: remote, seconds: seconds,
      note: "\(own) own changes wait, and are acknowledged")
  }

  /// S3: devices that were apart.
  func heal() async throws -> Measurement {
    let server = MemoryServerStore()
    guard let path = StorePath("/bench/items") else { throw CancellationError() }
    try await server.makeStore(path)
    let each = scaled(1_000)
    var stores: [Store] = []
    for client in 0..<8 {
      let store = try store("s3.\(client)", replica: UInt64(client + 1))
      for number in 0..<each {
        try store.write {
          let item = Item()
          item.id = number.isMultiple(of: 2) ? number : client * each + number
          try store.add(item, update: .modified)
          item.title = "by \(client)"
        }
      }
      stores.append(store)
    }
    let seconds = try await timed {
      for (index, store) in stores.enumerated() {
        let replica = ReplicaID(UInt64(index + 1))
        _ = try await server.bind(path, replica, secret: [1], user: "ann", at: 0)
        let uploads = try await store.integrate { write -> [Upload] in
          guard let sides = write.transaction.writePowers.sides else { return [] }
          return try Outbox.pending(sides).all.map { .changeset($0.changeset) }
        }
        _ = try await server.commit(path, replica, uploads, refusalSeen: .zero, at: .max >> 20) { _ in nil }
      }
      for (index, store) in stores.enumerated() {
        let page = try await server.changes(path, for: ReplicaID(UInt64(index + 1)), after: .zero, limitBytes: .max)
        try await take(page.entries, store)
      }
    }
    stores.forEach { $0.refresh() }
    let counts = Set(stores.map { $0.objects(Item.self).count })
    return Measurement(
      engine: engine.rawValue, workload: "S3.heal", count: 8 * each, seconds: seconds,
      note: "all have \(counts.map(String.init).joined(separator: ", ")) objects")
  }

  /// S4: bytes that the merge keeps beside the objects.
  func mergeData() async throws -> [Measurement] {
    var lines: [Measurement] = []
    func measured(_ name: String, _ count: Int, _ store: Store) async throws {
      let bytes = try await store.integrate { write -> Int in
        guard let sides = write.transaction.writePowers.sides else { return 0 }
        var bytes = 0
        for space in ["m", "l", "k", "g"].compactMap(\.utf8.first) {
          try sides.sides(from: [space], below: [space + 1]) { key, value in
            bytes += key.count + value.count
            return .proceed
          }
        }
        return bytes
      }
      lines.append(
        Measurement(
          engine: engine.rawValue, workload: name, count: count, seconds: 0, bytes: bytes,
          note: "\((Double(bytes) / Double(count) * 10).rounded() / 10) bytes each, with the values"))
    }
    let objects = scaled(2_000)
    let fields = try store("s4.fields", replica: 1)
    try fields.write {
      for id in 0..<objects {
        let item = Item()
        (item.id, item.count, item.isDone) = (id, id, true)
        try fields.add(item)
      }
    }
    try await measured("S4.field", objects * 3, fields)
    try await fields.integrate { write in
      var changes = try RemoteChanges(write)
      try changes.take(LogEntry(Seq(1), .own(clientSeq: 1)))
      try changes.take(LogEntry(Seq(2), .purge(Purge(stable: Seq(1), floor: Stamp(time: .max >> 1, replica: ReplicaID(0))))))
      try changes.finish()
    }
    try await measured("S4.field.purged", objects * 3, fields)
    let lists = try store("s4.lists", replica: 1)
    try lists.write {
      let item = Item()
      try lists.add(item)
      for number in 0..<objects { item.tags.append("tag \(number)") }
    }
    try await measured("S4.element", objects, lists)
    return lines
  }
}
