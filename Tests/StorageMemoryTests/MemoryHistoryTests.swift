import Storage
import StorageConformance
import StorageMemory
import TestSupport
import Testing

@Suite struct MemoryHistoryTests {
  @Test(arguments: [512, 1_024, 4_096])
  func randomHistoriesAgreeWithThePlainEngine(_ pageSize: Int) throws {
    let seed = SeededGenerator.forTest().seed
    for seed in seed..<seed + 4 {
      try ModelRun(ConformanceSubject({ MemoryBackend(pageSize: pageSize) }), seed: seed).play(2_500)
    }
  }
}
