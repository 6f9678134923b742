import CVivariumSQLite
import StorageInterface
import StoreValues

/// The newest version, polled without a query: SQLite's shared WAL index changes with every commit of any connection, and
/// comparing it costs nanoseconds.
///
/// One thread at a time: the engine guards it by a lock.
struct VersionWatch {
  /// Used only for this, and outside transactions.
  private let connection: Connection
  /// Mapped while the connection is open; nil if the file has none.
  private let index: UnsafeRawPointer?
  private var seen = [UInt64](repeating: 0, count: 12)
  private var version: Version?
  /// The number of commits in the index when this process's write began.
  private var commitsBefore: UInt32?
  /// The file is as this process's last commit left it: not even another program, which makes no version, has written since.
  private(set) var isOwn = false

  /// - Parameter isImmutable: nobody writes the file, and reading its index would create one.
  init(_ connection: Connection, isImmutable: Bool = false) throws(StorageError) {
    self.connection = connection
    // The first read maps the index.
    _ = try connection.readVersions()
    index = isImmutable ? nil : csqlite_wal_index(connection.database).map { UnsafeRawPointer($0) }
  }

  mutating func latest() throws(StorageError) -> Version {
    guard let index else { return try connection.readVersions().version }
    // Taken before the version is read: a commit in between only causes another read.
    if look(index), let version { return version }
    version = nil
    let found = try connection.readVersions().version
    version = found
    return found
  }

  /// Call when a write has begun: nobody else can commit.
  mutating func noteBeginning() {
    guard let index else { return }
    if !look(index) { version = nil }
    commitsBefore = seenCommits
  }

  /// Records a version that was just committed, while nobody can commit another, so that it need not be read. Other programs
  /// may have written meanwhile, but they make no versions.
  mutating func note(_ committed: Version) {
    guard let index else { return }
    _ = look(index)
    version = committed
    isOwn = commitsBefore.map { seenCommits &- $0 == 1 } ?? false
    commitsBefore = nil
  }

  /// Call after a commit. A new log has no mark before somebody reads it, and a process that may not write the index cannot read a
  /// log without marks.
  func markLog() {
    if let index, csqlite_wal_has_mark(index) == 0 { _ = try? connection.readVersions() }
  }

  private var seenCommits: UInt32 { seen.withUnsafeBufferPointer { $0.baseAddress.map { csqlite_wal_commits($0) } ?? 0 } }

  /// The newest version if it is known without a query: nothing was committed since it was read.
  mutating func known() -> Version? {
    guard let index else { return nil }
    if !look(index) { version = nil }
    return version
  }

  /// Compares the index with the copy last seen, and updates the copy. Returns whether they are equal. If not, somebody has written.
  private mutating func look(_ index: UnsafeRawPointer) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 12) { now in
      guard let start = now.baseAddress else { return false }
      csqlite_copy_wal_header(index, start)
      var isSame = true
      for word in 0..<12 where seen[word] != now[word] {
        seen[word] = now[word]
        isSame = false
      }
      if !isSame { isOwn = false }
      return isSame
    }
  }

  var frames: LogFrames { index.map { LogFrames($0) } ?? LogFrames() }

  /// What tells this log from those before it; nil if there is none.
  var salts: UInt64? { index.map { csqlite_wal_salts($0) } }

  /// The state of the file now; nil while it is changing.
  var state: LogState? { index.flatMap { LogState($0) } }
}

extension VersionWatch {
  /// Closes the connection. It must not be used afterwards.
  func shut() { connection.shut() }
}
