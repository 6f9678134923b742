import StorageConformance
import StorageReference
import Testing
import VivariumTestSupport

@Suite struct ModelRunTests {
  @Test func aHistoryOfTheReferenceAgreesWithItself() throws {
    let seed = SeededGenerator.forTest().seed
    let run = try ModelRun(ConformanceSubject({ ReferenceBackend(seed: 77) }, persists: true), seed: seed)
    // Long enough for every kind: in a thousand steps a seed in some hundreds opens no snapshot.
    try run.play(2_000)
    let kinds = ["insert", "delete", "set", "edit", "savepoint", "release", "undo", "commit", "rollback", "read", "compare", "history"]
    for kind in kinds {
      #expect(run.played[kind, default: 0] > 0, "no \(kind)")
    }
  }

  @Test func aHistoryFindsAPlantedFault() throws {
    // One seed of the few must show the fault: not every history is long enough for it.
    let isFound = (1...4).contains { seed in
      do {
        try ModelRun(ConformanceSubject({ WrongBackend.forgetsMultiplicity.backend }), seed: UInt64(seed)).play(4_000)
        return false
      } catch { return true }
    }
    #expect(isFound)
  }
}
