import CVivariumSQLite

/// A state of the file, as identified by SQLite's shared WAL index: every commit and every restart of the log changes it.
struct LogState: Equatable, Sendable {
  private var words = SIMD8<UInt64>()

  /// Nil while a commit is changing it.
  init?(_ index: UnsafeRawPointer) {
    let isWhole = withUnsafeMutablePointer(to: &words) { words in
      words.withMemoryRebound(to: UInt64.self, capacity: 8) { csqlite_copy_wal_state(index, $0) != 0 }
    }
    if !isWhole { return nil }
  }
}

/// How many frames the log holds, and how many of them are also in the main file. Both may be outdated on arrival.
struct LogFrames: Equatable, Sendable {
  var logged: UInt32 = 0
  var moved: UInt32 = 0

  init() {}

  init(_ index: UnsafeRawPointer) { csqlite_wal_frames(index, &logged, &moved) }

  /// Whether a read that begins now needs only the main file.
  var areAllMoved: Bool { moved >= logged }
}

extension Connection {
  /// Finds the shared WAL index, which the first read maps. Not for immutable files: the call would create one.
  func findLog() {
    if logIndex == nil, stamp == nil { logIndex = csqlite_wal_index(database).map { UnsafeRawPointer($0) } }
  }

  /// The current state of the file; nil while it is changing, and if there is no log.
  var logState: LogState? { logIndex.flatMap { LogState($0) } }

  var logFrames: LogFrames { logIndex.map { LogFrames($0) } ?? LogFrames() }

  /// What tells this log from those before it; nil if there is none.
  var logSalts: UInt64? { logIndex.map { csqlite_wal_salts($0) } }
}
