import StorageInterface
import StorageLMDB
import SyncModel
import SyncServer

/// One store of a folder: its log in memory, and its rows in a file. What cannot be written did not happen: the log is read again.
actor EmbeddedLog {
  private let path: String
  private let engine: any StorageEngine
  private var log: StoreLog?
  private var rows = StoreRows()

  /// Makes the file, with an empty log.
  init(making path: String) throws(ServerStoreError) {
    self.path = path
    engine = try EmbeddedLog.opened(path, creates: true)
    var log = StoreLog(history: (0..<16).map { _ in UInt8.random(in: 0...255) })
    try EmbeddedLog.write(rows.changes(of: &log), engine)
    self.log = log
  }

  /// Opens the file.
  init(opening path: String) throws(ServerStoreError) {
    self.path = path
    engine = try EmbeddedLog.opened(path, creates: false)
  }

  deinit { engine.close() }

  private static func opened(_ path: String, creates: Bool) throws(ServerStoreError) -> any StorageEngine {
    do throws(StorageError) {
      // Nobody asks what commits did: replicas read the log.
      return try LMDBBackend(path: path).open(OpenOptions(createsIfMissing: creates, historyLimit: 1))
    } catch { throw ServerStoreError(error) }
  }

  /// Removes the file. The log is of no use afterwards.
  func remove() throws(ServerStoreError) {
    engine.close()
    log = nil
    do throws(StorageError) { try LMDBBackend(path: path).remove() } catch { throw ServerStoreError(error) }
  }

  /// The last entry.
  var head: Seq {
    get throws(ServerStoreError) { try loaded().head }
  }

  func read<R: Sendable>(_ body: @Sendable (StoreLog) throws(ServerStoreError) -> R) throws(ServerStoreError) -> R {
    try body(try loaded())
  }

  /// A change, as a whole or not at all, which survives a power cut when this returns.
  ///
  /// - Parameter isKept: false leaves it to the next change to write it.
  func change<R: Sendable>(
    isKept: Bool = true, _ body: @Sendable (inout StoreLog) throws(ServerStoreError) -> R
  ) throws(ServerStoreError) -> R {
    var log = try loaded()
    // Not in two places, or each change would copy all. What throws does so before it changes anything.
    self.log = nil
    let result: R
    do throws(ServerStoreError) { result = try body(&log) } catch {
      self.log = log
      throw error
    }
    if isKept {
      var rows = rows
      let changes = rows.changes(of: &log)
      // What is not written did not happen: the log in memory is given up, and read from the file when it is asked for next.
      try EmbeddedLog.write(changes, engine)
      self.rows = rows
    }
    self.log = log
    return result
  }

  private func loaded() throws(ServerStoreError) -> StoreLog {
    if let log { return log }
    var found: [(key: [UInt8], value: [UInt8])] = []
    do throws(StorageError) {
      let snapshot = try engine.beginRead()
      defer { snapshot.end() }
      try snapshot.sideReading?.sides(from: [], below: nil) { key, value in
        found.append((Array(key), Array(value)))
        return .proceed
      }
    } catch { throw ServerStoreError(error) }
    var rows = StoreRows()
    let log: StoreLog
    do throws(CodingError) { log = try rows.log(of: found) } catch {
      throw ServerStoreError(.unavailable, "The file '\(path)' is damaged, and has to be restored from a back-up: \(error)")
    }
    (self.rows, self.log) = (rows, log)
    return log
  }

  private static func write(_ rows: [StoreRows.Row], _ engine: any StorageEngine) throws(ServerStoreError) {
    do throws(StorageError) {
      let write = try engine.beginWrite(.never)
      defer { write.end() }
      guard let sides = write.sideWriting else { throw StorageError(.misuse, .engine, "The engine keeps no rows.", remedy: "") }
      for (key, value) in rows { try sides.setSide(key, value) }
      _ = try write.commit(CommitRecord(origin: 0), .full)
    } catch { throw ServerStoreError(error) }
  }
}

extension ServerStoreError {
  init(_ error: StorageError) { self.init(.unavailable, "\(error.message) \(error.remedy)") }
}
