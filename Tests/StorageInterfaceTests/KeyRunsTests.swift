import StorageInterface
import Testing

@Suite struct KeyRunsTests {
  @Test func keysInAnyOrderBecomeAscendingRuns() {
    var state: UInt64 = 5
    func random(_ bound: UInt64) -> Int64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64(state >> 33) % Int64(bound)
    }
    // Close together and far apart: two ways of sorting.
    for (count, span) in [(0, 10), (1, 10), (500, 600), (500, 1_000_000_000), (3_000, 2_000), (64, 64), (200, 4_096)] as [(Int, UInt64)] {
      let keys = (0..<count).map { _ in 1 + random(span) }
      let runs = KeyRuns(keys)
      #expect(Array(runs) == Set(keys).sorted())
      for (a, b) in zip(runs.runs, runs.runs.dropFirst()) { #expect(a.upperBound + 1 < b.lowerBound) }
    }
    #expect(KeyRuns(1...1_000_000).runs == [1...1_000_000])
    #expect(KeyRuns([.max - 1, 1]).runs == [1...1, Int64.max - 1...(Int64.max - 1)])
  }

  @Test func appendedRunsJoinTheirNeighbours() {
    var runs = KeyRuns()
    runs.append(1...3)
    runs.append(4...4)
    runs.append(6...9)
    runs.append(8...12)
    #expect(runs.runs == [1...4, 6...12])
  }
}
