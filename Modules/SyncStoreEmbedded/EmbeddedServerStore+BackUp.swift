import Dispatch
import Foundation
import StorageInterface
import SyncServer

/// The moment as of which a back-up copies all stores.
struct BackUpMoment {
  /// Whether commits of all stores wait, as the moment is being taken.
  var isComing = true
  /// The stores that were not open then, and have not been since.
  var closed: Set<StorePath> = []
  /// How the others were, until they are copied.
  var snapshots: [StorePath: any ReadTransaction] = [:]
  /// The one that is being copied, and who waits to remove it.
  var copied: StorePath?
  var removers: [CheckedContinuation<Void, Never>] = []
}

extension EmbeddedServerStore {
  /// Copies all stores into a new folder while they are in use: as of one moment for all of them, and each with a new history. So devices
  /// that connect to a server on the copy begin anew, instead of confusing its entries with others of the same numbers.
  ///
  /// Commits wait for the moment, which is until those under way have ended; not for the copying. A store that is removed meanwhile may be
  /// left out. If anything cannot be written, the copy is removed. Throws `.storeExists` if the folder exists, `.unavailable` while another
  /// copy is made. Takes O(objects) of memory and time, for one store after the other.
  public func backUp(to copy: String) async throws(ServerStoreError) {
    guard !FileManager.default.fileExists(atPath: copy) else { throw ServerStoreError(.storeExists, "'\(copy)' is there already.") }
    if moment != nil { throw ServerStoreError(.unavailable, "Another copy of the stores is being made.") }
    moment = BackUpMoment()
    defer {
      for snapshot in moment?.snapshots.values ?? [:].values { snapshot.end() }
      moment = nil
    }
    do throws(ServerStoreError) {
      try EmbeddedServerStore.makeFolder(ofFile: copy + "/x")
      for path in try await takeMoment() {
        try await write(path, to: EmbeddedServerStore.file(of: path, in: copy))
      }
    } catch {
      try? FileManager.default.removeItem(atPath: copy)
      throw error
    }
  }

  /// Has all commits wait, begins a snapshot of each open store, and lets the commits go on. Returns all stores there were.
  private func takeMoment() async throws(ServerStoreError) -> [StorePath] {
    var held: [EmbeddedLog] = []
    // Those that are opened meanwhile are held from the start.
    while let log = open.values.first(where: { log in !held.contains { $0 === log } }) {
      held.append(log)
      await log.hold()
    }
    var failure: ServerStoreError?
    let paths = stores()
    moment?.closed = Set(paths).subtracting(open.keys)
    for (path, log) in open {
      do throws(ServerStoreError) { moment?.snapshots[path] = try log.snapshot() } catch { failure = error }
    }
    moment?.isComing = false
    for log in held { await log.release() }
    if let failure { throw failure }
    return paths
  }

  /// Copies a store as it was at the moment, unless it is not there any more.
  private func write(_ path: StorePath, to file: String) async throws(ServerStoreError) {
    guard let snapshot = try snapshot(of: path) else { return }
    moment?.copied = path
    let result: Result<Void, ServerStoreError>
    do throws(ServerStoreError) { result = .success(try await EmbeddedServerStore.write(snapshot, to: file)) } catch {
      result = .failure(error)
    }
    snapshot.end()
    moment?.snapshots[path] = nil
    moment?.copied = nil
    for remover in moment?.removers ?? [] { remover.resume() }
    moment?.removers = []
    try result.get()
  }

  /// Has a store left out of a back-up, which would keep its file open; waits if it is being copied.
  func leaveOut(_ path: StorePath) async {
    if moment?.copied == path { await withCheckedContinuation { moment?.removers.append($0) } }
    moment?.closed.remove(path)
    moment?.snapshots.removeValue(forKey: path)?.end()
  }

  /// How a store was at the moment; nil if it is not there any more.
  private func snapshot(of path: StorePath) throws(ServerStoreError) -> (any ReadTransaction)? {
    if let known = moment?.snapshots[path] { return known }
    do throws(ServerStoreError) {
      _ = try log(path)
      return moment?.snapshots[path]
    } catch {
      guard error.code == .unknownStore else { throw error }
      return nil
    }
  }

  /// Begins the snapshot of a store that a back-up waits for, before anything is done to it.
  func noteOpening(_ path: StorePath, _ log: EmbeddedLog) throws(ServerStoreError) {
    guard moment?.closed.contains(path) == true else { return }
    moment?.snapshots[path] = try log.snapshot()
    moment?.closed.remove(path)
  }

  /// Writes a store's copy, on a thread that may wait for the disk.
  private static func write(_ snapshot: any ReadTransaction, to file: String) async throws(ServerStoreError) {
    try await DispatchQueue.global(qos: .utility).run { () throws(ServerStoreError) in
      var log = try EmbeddedLog.read(snapshot, file)?.0 ?? ServerLog(history: ServerLog.newHistory())
      log.renewHistory()
      try makeFolder(ofFile: file)
      try EmbeddedLog(making: file, of: log).close()
    }
  }

  /// Gives a store a new history, after its file was restored from a copy with the old one. Every device begins anew: it takes the store's
  /// objects as they are, and redoes only what the server had not acknowledged. What was acknowledged after the copy was made is lost.
  public func renewHistory(_ path: StorePath) async throws(ServerStoreError) {
    try await log(path).change { log in log.renewHistory() }
  }

  /// Creates the folder of a file, accessible to nobody else.
  static func makeFolder(ofFile file: String) throws(ServerStoreError) {
    let folder = (file as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
    } catch { throw ServerStoreError(.unavailable, "The folder '\(folder)' cannot be made: \(error.localizedDescription)") }
  }
}
