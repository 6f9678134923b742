import SyncServer
import SyncServerConformance
import Testing

@Suite struct MemoryServerStoreTests {
  @Test(arguments: SyncServerConformance.allChecks) func rule(_ check: ServerStoreCheck) async throws {
    try await check.run(MemoryServerStore())
  }
}
