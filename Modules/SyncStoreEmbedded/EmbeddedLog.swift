import Dispatch
import StorageInterface
import StorageLMDB
import SyncModel
import SyncServer

/// One store of a folder: its log in memory, and its rows in a file.
///
/// Calls that arrive while a commit waits for the disk are committed together next: many writers of a store share a flush. Reads are
/// answered between commits, so they see everything called before them, and nothing that a power cut could undo. If a commit fails, its
/// changes did not happen: the log is read from the file again.
actor EmbeddedLog {
  private let path: String
  nonisolated let engine: any StorageEngine
  /// Blocking calls have a thread of their own, because tasks share theirs.
  nonisolated let disk: DispatchQueue
  /// nil until it is read, and while a commit is under way.
  private var log: ServerLog?
  private var rows = StoreRows()
  /// The bytes of the rows of entries and objects, as of the last commit.
  private var rowBytes = 0
  private var waiting: [Request] = []
  private var isBusy = false
  private var isRemoved = false
  /// Whether commits wait, for a back-up of all stores as of one moment.
  private var isHeld: Bool
  private var isCommitting = false
  /// Waits for the commit under way, to hold the next one.
  private var holder: CheckedContinuation<Void, Never>?
  /// The commit that is held.
  private var heldCommit: CheckedContinuation<Void, Never>?
  /// Waits for the calls under way, to remove the file.
  private var remover: CheckedContinuation<Void, Never>?

  /// Creates the file, with an empty log or a copy of another.
  ///
  /// - Parameter isHeld: whether commits wait for `release` from the start.
  init(
    making path: String, of log: ServerLog = ServerLog(history: ServerLog.newHistory()), isHeld: Bool = false
  ) throws(ServerStoreError) {
    (self.path, self.isHeld) = (path, isHeld)
    disk = DispatchQueue(label: "vivarium.store")
    engine = try EmbeddedLog.opened(path, creates: true)
    var log = log
    log.touchAll()
    try EmbeddedLog.write(rows.changes(of: &log), engine)
    self.log = log
    rowBytes = rows.bytes
  }

  /// Opens the file. A file whose creation was cut short by a crash is an empty log: no caller was told that it exists.
  init(opening path: String, isHeld: Bool = false) throws(ServerStoreError) {
    (self.path, self.isHeld) = (path, isHeld)
    disk = DispatchQueue(label: "vivarium.store")
    engine = try EmbeddedLog.opened(path, creates: true)
  }

  private static func opened(_ path: String, creates: Bool) throws(ServerStoreError) -> any StorageEngine {
    do throws(StorageError) {
      // The history of commits is not used: replicas read the log.
      return try LMDBBackend(path: path).open(OpenOptions(createsIfMissing: creates, historyLimit: 1))
    } catch { throw ServerStoreError(error) }
  }

  /// Closes the file of a log without calls under way.
  nonisolated func close() { engine.close() }

  /// Removes the file once the calls under way have ended; later ones find no store. At most once.
  func remove() async throws(ServerStoreError) {
    isRemoved = true
    // A back-up leaves it out, so nobody else may know of it to release it.
    release()
    if isBusy { await withCheckedContinuation { remover = $0 } }
    engine.close()
    log = nil
    do throws(StorageError) { try LMDBBackend(path: path).remove() } catch { throw ServerStoreError(error) }
  }

  /// Reads the log as it is on disk.
  func read<R: Sendable>(
    _ body: @escaping @Sendable (ServerLog) throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    // Each session of a store reads every change: between commits nothing has to be waited for.
    if !isBusy, !isRemoved, let log { return try body(log) }
    return try await ask(.read) { log throws(ServerStoreError) in try body(log) }
  }

  /// Changes the log, as a whole or not at all; durable when it returns. `body` must throw before it changes anything.
  ///
  /// - Parameter isKept: false leaves writing it to the next change.
  func change<R: Sendable>(
    isKept: Bool = true, _ body: @escaping @Sendable (inout ServerLog) throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    if !isKept, !isBusy, !isRemoved, var log {
      self.log = nil  // with a second reference, the change would copy the whole log
      defer { self.log = log }
      return try body(&log)
    }
    return try await ask(isKept ? .change : .note, body)
  }

  /// The bytes of the log and the objects, as they are stored.
  func size() async throws(ServerStoreError) -> Int {
    // It may have to be read first.
    try await read { _ in }
    return rowBytes
  }

  // MARK: back-ups

  /// Has commits wait until `release`; returns when none is under way. One caller at a time.
  func hold() async {
    isHeld = true
    if isCommitting { await withCheckedContinuation { holder = $0 } }
  }

  func release() {
    isHeld = false
    heldCommit?.resume()
    heldCommit = nil
  }

  /// The file as of the last commit, unchanged until it is ended.
  nonisolated func snapshot() throws(ServerStoreError) -> any ReadTransaction {
    do throws(StorageError) { return try engine.beginRead() } catch { throw ServerStoreError(error) }
  }

  // MARK: serializing calls

  private struct Request: Sendable {
    enum Kind { case read, note, change }

    let kind: Kind
    /// Performs the call, and returns a closure that answers the caller, with an error if it could not be written.
    let perform: @Sendable (inout ServerLog) -> @Sendable (ServerStoreError?) -> Void
    /// Answers with an error without performing the call.
    let refuse: @Sendable (ServerStoreError) -> Void
  }

  private func ask<R: Sendable>(
    _ kind: Request.Kind, _ body: @escaping @Sendable (inout ServerLog) throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    if isRemoved { throw ServerStoreError(.unknownStore, "The store was removed.") }
    let result: Result<R, ServerStoreError> = await withCheckedContinuation { asker in
      waiting.append(
        Request(
          kind: kind,
          perform: { log in
            let result: Result<R, ServerStoreError>
            do throws(ServerStoreError) { result = .success(try body(&log)) } catch { result = .failure(error) }
            return { problem in asker.resume(returning: problem.map { .failure($0) } ?? result) }
          },
          refuse: { asker.resume(returning: .failure($0)) }))
      if isBusy { return }
      isBusy = true
      Task { await work() }
    }
    return try result.get()
  }

  /// The number of waiting calls; nil while none is under way. For tests.
  var waitingCount: Int? { isBusy ? waiting.count : nil }

  private func work() async {
    while !waiting.isEmpty {
      if isHeld {
        await withCheckedContinuation { heldCommit = $0 }
        continue
      }
      let requests = waiting
      waiting = []
      isCommitting = true
      await make(requests)
      isCommitting = false
      holder?.resume()
      holder = nil
    }
    isBusy = false
    remover?.resume()
    remover = nil
  }

  private func make(_ requests: [Request]) async {
    var log: ServerLog
    do throws(ServerStoreError) { log = try await loaded() } catch {
      for request in requests { request.refuse(error) }
      return
    }
    // With a second reference, each change would copy the whole log.
    self.log = nil
    let first = requests.firstIndex { $0.kind != .read } ?? requests.count
    for request in requests[..<first] { request.perform(&log)(nil) }
    let answers = requests[first...].filter { $0.kind != .read }.map { $0.perform(&log) }
    let reads = requests[first...].filter { $0.kind == .read }
    var problem: ServerStoreError?
    if requests.contains(where: { $0.kind == .change }) {
      var rows = StoreRows()
      swap(&rows, &self.rows)
      let changes = rows.changes(of: &log)
      do throws(ServerStoreError) {
        try await onDisk { engine throws(ServerStoreError) in try EmbeddedLog.write(changes, engine) }
        self.rows = rows
        rowBytes = rows.bytes
      } catch { problem = error }
    }
    for answer in answers { answer(problem) }
    if problem == nil {
      for request in reads { request.perform(&log)(nil) }
      self.log = log
    } else {
      // They must see what the file has.
      waiting.insert(contentsOf: reads, at: 0)
    }
  }

  private func onDisk<R: Sendable>(
    _ body: @escaping @Sendable (any StorageEngine) throws(ServerStoreError) -> R
  ) async throws(ServerStoreError) -> R {
    let engine = engine
    return try await disk.run { () throws(ServerStoreError) in try body(engine) }
  }

  // MARK: rows

  private func loaded() async throws(ServerStoreError) -> ServerLog {
    if let log { return log }
    let path = path
    let (log, rows) = try await onDisk { engine throws(ServerStoreError) in
      if let found = try EmbeddedLog.read(engine, path) { return found }
      var (log, rows) = (ServerLog(history: ServerLog.newHistory()), StoreRows())
      try EmbeddedLog.write(rows.changes(of: &log), engine)
      return (log, rows)
    }
    self.rows = rows
    rowBytes = rows.bytes
    return log
  }

  private static func read(_ engine: any StorageEngine, _ path: String) throws(ServerStoreError) -> (ServerLog, StoreRows)? {
    let snapshot: any ReadTransaction
    do throws(StorageError) { snapshot = try engine.beginRead() } catch { throw ServerStoreError(error) }
    defer { snapshot.end() }
    return try read(snapshot, path)
  }

  /// Returns nil if nothing was ever written.
  static func read(_ snapshot: any ReadTransaction, _ path: String) throws(ServerStoreError) -> (ServerLog, StoreRows)? {
    var found: [(key: [UInt8], value: [UInt8])] = []
    do throws(StorageError) {
      try snapshot.powers.sides?.sides(from: [], below: nil) { key, value in
        found.append((Array(key), Array(value)))
        return .proceed
      }
    } catch { throw ServerStoreError(error) }
    if found.isEmpty { return nil }
    var rows = StoreRows()
    do throws(CodingError) { return (try rows.log(of: found), rows) } catch {
      throw ServerStoreError(.unavailable, "The file '\(path)' is damaged, and has to be restored from a back-up: \(error)")
    }
  }

  private static func write(_ rows: [StoreRows.Row], _ engine: any StorageEngine) throws(ServerStoreError) {
    do throws(StorageError) {
      let write = try engine.beginWrite(.never)
      defer { write.end() }
      guard let sides = write.writePowers.sides else { throw StorageError(.misuse, .engine, "The engine keeps no rows.", remedy: "") }
      for (key, value) in rows { try sides.setSide(key, value) }
      _ = try write.commit(CommitRecord(origin: 0), .full)
    } catch { throw ServerStoreError(error) }
  }
}

extension DispatchQueue {
  /// Does something that may wait for the disk.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws(ServerStoreError) -> R) async throws(ServerStoreError) -> R {
    let result: Result<R, ServerStoreError> = await withCheckedContinuation { continuation in
      async {
        let result: Result<R, ServerStoreError>
        do throws(ServerStoreError) { result = .success(try body()) } catch { result = .failure(error) }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }
}

extension ServerStoreError {
  init(_ error: StorageError) { self.init(.unavailable, "\(error.message) \(error.remedy)") }
}
