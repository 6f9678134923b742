import Foundation
import StorageCoordination
import StorageInterface
import StorageLMDB
import SyncModel
import SyncProtocol
import SyncServer

/// A server's stores in one folder, without a database service: one LMDB file per store, `/ann/tasks` in `ann/tasks.store`.
///
/// ```swift
/// let stores = try EmbeddedServerStore(folder: "/var/lib/vivarium")
/// ```
///
/// Changes are durable when a call returns, except the acknowledgements of replicas, which are written with the next change (`flush`). A
/// store is in memory as a whole from its first use until many others were used since. A transaction costs what it touches, and
/// concurrent transactions of one store share a flush of the disk. One process has a folder at a time.
public actor EmbeddedServerStore: SyncServerStore {
  private let folder: String
  private let turn: FileTurn
  private let limit: Int
  private(set) var open: [StorePath: EmbeddedLog] = [:]
  /// When each of `open` was used last, and which have something unwritten.
  private(set) var used: [StorePath: UInt64] = [:]
  private var lastUse: UInt64 = 0
  private var noted: Set<StorePath> = []
  /// The stores that are being removed.
  private var leaving: Set<StorePath> = []
  /// All stores, in order, once they were asked for. Handlers of events ask each second, and reading a folder of many stores takes time
  /// in which no other call is served. No other process makes or removes any.
  private var listed: [StorePath]?
  private var listeners: [UInt64: AsyncStream<StorePath>.Continuation] = [:]
  private var lastListener: UInt64 = 0
  /// Of the back-up that is being made.
  var moment: BackUpMoment?

  /// Opens the stores of a folder, which is created if it is missing.
  ///
  /// Throws `.unavailable` if another process has the folder, or it cannot be written.
  ///
  /// - Parameter openStores: about how many stores are in memory; stores with calls under way always are.
  public init(folder: String, openStores: Int = 256) throws(ServerStoreError) {
    (self.folder, limit) = (folder, max(1, openStores))
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
    } catch { throw ServerStoreError(.unavailable, "The folder '\(folder)' cannot be made: \(error.localizedDescription)") }
    let turn: FileTurn?
    do throws(StorageError) { turn = try FileTurn.take(path: folder + "/server.lock", "lock of the folder", mode: 0o600) } catch {
      throw ServerStoreError(error)
    }
    guard let turn else { throw ServerStoreError(.unavailable, "Another server has the folder '\(folder)'.") }
    self.turn = turn
  }

  // MARK: stores

  public func makeStore(_ path: StorePath) async throws(ServerStoreError) {
    // Nothing is looked up for a store that exists.
    try checkIsFree(path)
    let names = try await handlers(ofNew: path)
    // Another call may have made it meanwhile.
    try checkIsFree(path)
    let file = file(of: path)
    try EmbeddedServerStore.makeFolder(ofFile: file)
    letGo()
    open[path] = try EmbeddedLog(
      making: file, of: ServerLog(history: ServerLog.newHistory(), handlers: names), isHeld: moment?.isComing == true)
    use(path)
    list(path)
    // Who has removed one of them in between may not have found this store.
    if names.isEmpty { return }
    for name in names.subtracting(try await handlers(ofNew: path)) { try await removeHandler(path, name) }
  }

  private func checkIsFree(_ path: StorePath) throws(ServerStoreError) {
    if leaving.contains(path) { throw ServerStoreError(.unavailable, "The store at \(path) is being removed.") }
    guard open[path] == nil, !FileManager.default.fileExists(atPath: file(of: path)) else {
      throw ServerStoreError(.storeExists, "There is a store at \(path) already.")
    }
  }

  private func handlers(ofNew path: StorePath) async throws(ServerStoreError) -> Set<String> {
    do throws(ServerStoreError) {
      return HandlerNames.handlers(of: path, in: Set(try await handlers(HandlerNames.path).keys))
    } catch {
      // No handler was ever registered.
      guard error.code == .unknownStore else { throw error }
      return []
    }
  }

  public func stores() -> [StorePath] {
    if let listed { return listed }
    let found = EmbeddedServerStore.stores(inFolder: folder)
    listed = found
    return found
  }

  /// Adds a store to the list, if there is one already. O(log stores) for one that it has, as each has that is opened again.
  private func list(_ path: StorePath) {
    guard let all = listed else { return }
    var (low, high) = (0, all.count)
    while low < high {
      let middle = (low + high) / 2
      if all[middle] < path { low = middle + 1 } else { high = middle }
    }
    if low == all.count || all[low] != path { listed?.insert(path, at: low) }
  }

  /// The stores of a folder, whoever has it open; none if it does not exist.
  public static func stores(inFolder folder: String) -> [StorePath] {
    guard let names = FileManager.default.enumerator(atPath: folder) else { return [] }
    var paths: [StorePath] = []
    for case let name as String in names where name.hasSuffix(EmbeddedServerStore.suffix) {
      if let path = EmbeddedServerStore.path(ofFile: name) { paths.append(path) }
    }
    return paths.sorted()
  }

  /// The log of a store; opens it if necessary.
  func log(_ path: StorePath) throws(ServerStoreError) -> EmbeddedLog {
    if let log = open[path] {
      use(path)
      return log
    }
    let file = file(of: path)
    guard !leaving.contains(path), FileManager.default.fileExists(atPath: file) else {
      throw ServerStoreError(.unknownStore, "There is no store at \(path).")
    }
    letGo()
    let log = try EmbeddedLog(opening: file, isHeld: moment?.isComing == true)
    try noteOpening(path, log)
    open[path] = log
    // Of a path that has no store nothing is noted: anybody may ask for any.
    use(path)
    // Somebody may have put the file there.
    list(path)
    return log
  }

  private func use(_ path: StorePath) {
    lastUse += 1
    used[path] = lastUse
  }

  /// If many stores are open, closes those least recently used, about half, but none with calls under way.
  private func letGo() {
    guard open.count >= limit else { return }
    for path in open.keys.sorted(by: { used[$0, default: 0] < used[$1, default: 0] }).prefix(open.count - limit / 2) {
      // A call under way has another reference.
      guard isKnownUniquelyReferenced(&open[path]), moment?.snapshots[path] == nil else { continue }
      if noted.remove(path) != nil, let log = open[path] {
        // It is closed the next time.
        Task { try? await log.change { _ in } }
      } else {
        (open[path], used[path]) = (nil, nil)
      }
    }
    used = used.filter { open[$0.key] != nil }
  }

  /// Writes what was left to the next change: the acknowledgements of replicas.
  public func flush() async throws(ServerStoreError) {
    noted = []
    for log in open.values {
      do throws(ServerStoreError) { try await log.change { _ in } } catch {
        // The store was removed in between.
        guard error.code == .unknownStore else { throw error }
      }
    }
  }

  public func removeStore(_ path: StorePath) async throws(ServerStoreError) {
    let log = try log(path)
    (open[path], used[path]) = (nil, nil)
    noted.remove(path)
    // Another call must not open the file meanwhile.
    leaving.insert(path)
    defer { leaving.remove(path) }
    await leaveOut(path)
    try await log.remove()
    listed?.removeAll { $0 == path }
    for listener in listeners.values { listener.yield(path) }
  }

  // MARK: names of files

  static let suffix = ".store"

  private func file(of path: StorePath) -> String { EmbeddedServerStore.file(of: path, in: folder) }

  static func file(of path: StorePath, in folder: String) -> String { folder + name(of: path) + suffix }

  /// A capital gets a mark before it: some file systems do not distinguish "A" from "a", and no path contains the mark.
  static func name(of path: StorePath) -> String {
    path.text.reduce(into: "") { name, character in name += character.isUppercase ? "+\(character)" : "\(character)" }
  }

  static func path(ofFile name: String) -> StorePath? {
    let path = StorePath("/" + name.dropLast(suffix.count).replacing("+", with: ""))
    return path.flatMap { self.name(of: $0) == "/" + name.dropLast(suffix.count) ? $0 : nil }
  }

  // MARK: calls

  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await log(path).change { log throws(ServerStoreError) in
      try log.bind(replica, secret: secret, user: user, limit: limit, sparing: spared, at: time)
    }
  }

  /// O(1) once the store is in memory.
  public func size(of path: StorePath) async throws(ServerStoreError) -> Int { try await log(path).size() }

  public func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema {
    // What was declared already needs no commit.
    let known = try await log(path).read { $0.schema }
    if (try? known.joined(by: schema)) == known { return known }
    return try await log(path).change { log throws(ServerStoreError) in try log.declare(schema) }
  }

  public func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome] {
    try await told(path) { log throws(ServerStoreError) in
      try log.commit(replica, uploads, refusalSeen: refusalSeen, at: time, judge: judge)
    }
  }

  public func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    try await log(path).read { log throws(ServerStoreError) in try log.changes(for: replica, after: seq, limitBytes: limitBytes) }
  }

  public func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await log(path).read { log throws(ServerStoreError) in
      try log.objects(of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
    }
  }

  public func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError) {
    noted.insert(path)
    try await log(path).change(isKept: false) { log throws(ServerStoreError) in try log.acknowledge(replica, state, at: time) }
  }

  public func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    try await told(path) { log throws(ServerStoreError) in log.purge(expiry: expiry) }
  }

  public func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError) {
    try await log(path).change { log throws(ServerStoreError) in log.truncate(through: seq) }
  }

  public func claim(
    _ path: StorePath, handler: String, heldIn history: [UInt8]?, fromStart: Bool, until end: Int64, at time: Int64
  ) async throws(ServerStoreError) -> HandlerLease? {
    try await log(path).change { log throws(ServerStoreError) in
      try log.claim(handler, heldIn: history, fromStart: fromStart, until: end, at: time)
    }
  }

  public func renew(_ path: StorePath, _ lease: HandlerLease, until end: Int64, at time: Int64) async throws(ServerStoreError) {
    try await log(path).change { log throws(ServerStoreError) in try log.renew(lease, until: end, at: time) }
  }

  public func past(_ path: StorePath, at seq: Seq) async throws(ServerStoreError) -> StorePast {
    try await log(path).read { log throws(ServerStoreError) in try log.past(at: seq) }
  }

  public func handlers(_ path: StorePath) async throws(ServerStoreError) -> [String: HandlerStanding] {
    try await log(path).read { log in log.handlers.mapValues(\.standing) }
  }

  public func removeHandler(_ path: StorePath, _ name: String) async throws(ServerStoreError) {
    try await log(path).change { log throws(ServerStoreError) in log.removeHandler(name) }
  }

  public func advance(
    _ path: StorePath, _ lease: HandlerLease, to cursor: Seq, writing changesets: [Changeset], at time: Int64
  ) async throws(ServerStoreError) -> [Seq] {
    try await told(path) { log throws(ServerStoreError) in try log.advance(lease, to: cursor, writing: changesets, at: time) }
  }

  public func heads(_ paths: [StorePath]) async throws(ServerStoreError) -> [StorePath: Seq] {
    var heads: [StorePath: Seq] = [:]
    for path in paths {
      do throws(ServerStoreError) { heads[path] = try await log(path).read { $0.head } } catch {
        guard error.code == .unknownStore else { throw error }
      }
    }
    return heads
  }

  // MARK: news

  public func wakeups() -> AsyncStream<StorePath> {
    let (stream, continuation) = AsyncStream.makeStream(of: StorePath.self)
    lastListener += 1
    let number = lastListener
    listeners[number] = continuation
    continuation.onTermination = { _ in Task { await self.forget(number) } }
    return stream
  }

  private func forget(_ listener: UInt64) { listeners[listener] = nil }

  /// Changes a log, and notifies listeners if it got entries.
  private func told<R: Sendable>(
    _ path: StorePath, _ body: @escaping @Sendable (inout ServerLog) throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    let (result, isLonger) = try await log(path).change { log throws(ServerStoreError) -> (R, Bool) in
      let before = log.head
      return (try body(&log), log.head > before)
    }
    if isLonger { for listener in listeners.values { listener.yield(path) } }
    return result
  }
}
