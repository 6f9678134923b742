import StorageConformance
import StorageInterface
import StorageMemory
import Testing

@Suite struct MemoryConformanceTests {
  @Test(arguments: StorageConformance.allChecks)
  func memoryKeepsEveryRuleOfTheSeam(_ check: ConformanceCheck) async throws {
    try await check.run { MemoryBackend() }
  }
}
