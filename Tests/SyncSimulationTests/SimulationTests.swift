import SyncSimulation
import Testing
import VivariumTestSupport

/// Replicas on real stores agree, whatever happens between them.
@MainActor @Suite struct SimulationTests {
  @Test(arguments: Engine.allCases) func `replicas agree whatever happens on the way`(engine: Engine) async throws {
    var random = SeededGenerator.forTest(#function + engine.rawValue)
    for _ in 0..<environmentNumber("VIVARIUM_SIMULATIONS", default: 2) {
      let seed = random.next()
      do {
        _ = try await Simulation.run(seed: seed, Simulation.Options(clients: 3, steps: 150, engine: engine))
      } catch let divergence as Divergence {
        Issue.record("\(divergence), seed \(seed)")
      }
    }
  }

  @Test(arguments: Engine.allCases) func `replicas agree when their sessions speak over wires that are cut`(engine: Engine) async throws {
    var random = SeededGenerator.forTest(#function + engine.rawValue)
    for _ in 0..<environmentNumber("VIVARIUM_SIMULATIONS", default: 2) {
      let seed = random.next()
      do {
        _ = try await Simulation.run(seed: seed, Simulation.Options(clients: 3, steps: 150, engine: engine, isFramed: true))
      } catch let divergence as Divergence {
        Issue.record("\(divergence), seed \(seed)")
      }
    }
  }

  @Test func `the same seed gives the same`() async throws {
    for isFramed in [false, true] {
      let options = Simulation.Options(clients: 2, steps: 60, isFramed: isFramed)
      let (a, b) = (try await Simulation.run(seed: 11, options), try await Simulation.run(seed: 11, options))
      #expect("\(a)" == "\(b)" && a.writes > 0)
    }
  }

  /// All of them, by hand: `sync-simulation --mutants --seeds 50 --clients 3 --steps 200`.
  @Test(arguments: [PlantedFault.laterByArrival, .epochsOfObjectsIgnored, .incrementsDoubled, .entriesLost, .refusalsMissed])
  func `a planted fault is found`(fault: PlantedFault) async {
    let found = await Simulation.finds(fault, seeds: 1..<12, Simulation.Options(clients: 3, steps: 200))
    #expect(found != nil)
  }
}
