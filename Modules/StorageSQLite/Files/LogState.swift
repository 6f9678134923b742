import CVivariumSQLite

/// A state of the file, as SQLite's shared index of the log names it: every commit, and every new beginning of the log, makes
/// another one.
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

/// How many frames the log holds, and how many of them are in the main file as well. Both may be old when they arrive.
struct LogFrames: Equatable, Sendable {
  var logged: UInt32 = 0
  var moved: UInt32 = 0

  init() {}

  init(_ index: UnsafeRawPointer) { csqlite_wal_frames(index, &logged, &moved) }

  /// Whoever begins to read now needs the main file alone.
  var areAllMoved: Bool { moved >= logged }
}

extension Connection {
  /// Finds the shared index of the log, which the first read maps. Not for files that nobody writes: asking would make one.
  func findLog() {
    if logIndex == nil, stamp == nil { logIndex = csqlite_wal_index(database).map { UnsafeRawPointer($0) } }
  }

  /// The state of the file now; nil while it is changing, and where there is no log.
  var logState: LogState? { logIndex.flatMap { LogState($0) } }

  var logFrames: LogFrames { logIndex.map { LogFrames($0) } ?? LogFrames() }
}
