import StoreValues

/// Which chunks each of the last commits wrote: the way from what is known of one version to another, forward and back.
struct TouchLog: Sendable {
  /// So many commits are kept, and of what they wrote so many runs of chunks.
  static let commitsMax = 256
  static let runsMax = 1 << 14
  /// Of which so many stay when there were more.
  private static let commitsLeft = 64

  /// The version that the first of the commits followed.
  private(set) var first: UInt64
  private var commits: [TouchedChunks] = []
  private var runCount = 0

  init(at version: UInt64) { first = version }

  /// The version that the last of the commits made.
  var last: UInt64 { first + UInt64(commits.count) }

  var isOverlong: Bool { commits.count > TouchLog.commitsMax || runCount > TouchLog.runsMax }

  mutating func append(_ commit: TouchedChunks) {
    commits.append(commit)
    runCount += commit.runCount
  }

  /// Forgets the oldest commits.
  mutating func shorten() {
    var left = ArraySlice(commits.suffix(TouchLog.commitsLeft))
    runCount = left.reduce(0) { $0 + $1.runCount }
    if runCount > TouchLog.runsMax / 2 {
      left = []
      runCount = 0
    }
    first = last - UInt64(left.count)
    commits = Array(left)
  }

  /// The chunks of a table whose rows, or a column of which, may differ in two versions; nil where that is not known.
  /// O(commits between them).
  func touched(
    _ table: TableID, _ property: PropertyID?, between a: UInt64, and b: UInt64
  ) -> [ClosedRange<Int64>]? {
    if a == b { return [] }
    let (from, to) = (min(a, b), max(a, b))
    guard from >= first, to <= last else { return nil }
    var runs: [ClosedRange<Int64>] = []
    for commit in commits[Int(from - first)..<Int(to - first)] {
      if commit.isEverything { return nil }
      runs += commit.runs(of: table, property)
    }
    return runs
  }
}
