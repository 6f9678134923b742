import StoreValues

/// The chunks that each of the last commits wrote: what distinguishes known versions, forward and back.
struct TouchLog: Sendable {
  /// The most commits that are kept, and the most runs of chunks that these wrote.
  static let commitsMax = 256
  static let runsMax = 1 << 14
  /// How many commits remain after shortening.
  private static let commitsLeft = 64

  /// The version before the first of the commits.
  private(set) var first: UInt64
  private var commits: [TouchedChunks] = []
  private var runCount = 0

  init(at version: UInt64) { first = version }

  /// The version that the last commit made.
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

  /// The chunks of a table whose rows, or whose column, may differ between two versions; nil if unknown. O(commits between
  /// them).
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
