import SyncSimulation
import Testing
import VivariumTestSupport

/// Replicas on real stores agree, whatever happens between them.
@MainActor @Suite struct SimulationTests {
  @Test(arguments: Engine.allCases) func `replicas agree whatever happens on the way`(engine: Engine) async throws {
    var random = SeededGenerator.forTest(#function + engine.rawValue)
    for _ in 0..<environmentNumber("VIVARIUM_SIMULATIONS", default: 3) {
      let seed = random.next()
      do {
        _ = try await Simulation.run(seed: seed, Simulation.Options(clients: 3, steps: 200, engine: engine))
      } catch let divergence as Divergence {
        Issue.record("\(divergence), seed \(seed)")
      }
    }
  }
}
