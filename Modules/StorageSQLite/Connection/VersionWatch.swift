import CVivariumSQLite
import StorageInterface
import StoreValues

/// The newest version, asked for again and again without asking SQLite: its shared WAL index changes with every
/// commit by anybody, and comparing it costs nanoseconds.
///
/// One thread at a time: the engine keeps it behind a lock.
struct VersionWatch {
  /// Only used for this, and outside transactions.
  private let connection: Connection
  /// Stays mapped while the connection lives; nil where the file has none.
  private let index: UnsafeRawPointer?
  private var seen = [UInt64](repeating: 0, count: 12)
  private var version: Version?

  /// - Parameter isImmutable: nobody writes the file, and asking for its index would make one.
  init(_ connection: Connection, isImmutable: Bool = false) throws(StorageError) {
    self.connection = connection
    // The index is mapped by the first read.
    _ = try connection.readVersions()
    index = isImmutable ? nil : csqlite_wal_index(connection.database).map { UnsafeRawPointer($0) }
  }

  mutating func latest() throws(StorageError) -> Version {
    guard let index else { return try connection.readVersions().version }
    // Taken before the version is read: a commit in between only costs another read.
    if look(index), let version { return version }
    version = nil
    let found = try connection.readVersions().version
    version = found
    return found
  }

  /// Takes note of a version that was just committed, while nobody can commit another: no need to ask for it. Other programs
  /// may have written meanwhile, but they make no versions.
  mutating func note(_ committed: Version) {
    guard let index else { return }
    _ = look(index)
    version = committed
  }

  /// The version that is known to be the newest without asking for it: nothing was committed since it was found out.
  mutating func known() -> Version? {
    guard let index else { return nil }
    if !look(index) { version = nil }
    return version
  }

  /// Looks at the index; whether it is as it was seen last.
  private mutating func look(_ index: UnsafeRawPointer) -> Bool {
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 12) { now in
      guard let start = now.baseAddress else { return false }
      csqlite_copy_wal_header(index, start)
      var isSame = true
      for word in 0..<12 where seen[word] != now[word] {
        seen[word] = now[word]
        isSame = false
      }
      return isSame
    }
  }

  var frames: LogFrames { index.map { LogFrames($0) } ?? LogFrames() }

  /// The state of the file now; nil while it is changing.
  var state: LogState? { index.flatMap { LogState($0) } }
}

extension VersionWatch {
  /// Closes the connection. Nothing is asked afterwards.
  func shut() { connection.shut() }
}
