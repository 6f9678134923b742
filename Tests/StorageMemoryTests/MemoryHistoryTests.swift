import StorageConformance
import StorageInterface
import StorageMemory
import Testing
import VivariumTestSupport

@Suite struct MemoryHistoryTests {
  @Test(arguments: [512, 1_024, 4_096])
  func randomHistoriesAgreeWithThePlainEngine(_ pageSize: Int) throws {
    let first = SeededGenerator.forTest().seed
    for run in 0..<environmentNumber("VIVARIUM_MODEL_RUNS", default: 1) {
      let history = try ModelRun(ConformanceSubject({ MemoryBackend(pageSize: pageSize) }), seed: first &+ UInt64(run))
      try history.play(environmentNumber("VIVARIUM_MODEL_STEPS", default: 1_200))
    }
  }
}
