import SyncServer
import SyncServerConformance
import Testing
import VivariumTestSupport

@Suite struct HistoryTests {
  @Test(arguments: 1...environmentNumber("VIVARIUM_HISTORIES", default: 30)) func replicasAgreeAtRest(round: Int) async throws {
    var random = SeededGenerator.forTest("replicasAgreeAtRest \(round)")
    try await RandomHistory(servers: [MemoryServerStore(random: random.fork())]).run(&random)
  }
}
