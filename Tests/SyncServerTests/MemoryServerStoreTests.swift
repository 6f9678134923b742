import SyncServer
import SyncServerConformance
import Testing

@Suite struct MemoryServerStoreTests {
  @Test(arguments: SyncServerConformance.allChecks) func rule(_ check: ServerStoreCheck) async throws {
    try await check.run(MemoryServerStore())
  }

  @Test(arguments: WrongServerStore.Fault.allCases) func `a planted fault breaks a rule`(_ fault: WrongServerStore.Fault) async throws {
    var broken: [String] = []
    for check in SyncServerConformance.allChecks {
      do { try await check.run(WrongServerStore(fault: fault)) } catch { broken.append(check.name) }
    }
    #expect(!broken.isEmpty)
    #expect(broken.count < SyncServerConformance.allChecks.count)
  }
}
