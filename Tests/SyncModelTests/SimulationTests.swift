import Testing
import VivariumTestSupport

/// Many replicas and a server, with everything that can happen between them; one seed is one run.
///
/// "All replicas are equal in the end" alone sees few mistakes: that the last to arrive wins makes them equal as well. So each
/// is compared all the time with a replay of what it knows, and with what effects have told of it.
@Suite struct SimulationTests {
  /// Simulations in all. More at a desk: `VIVARIUM_SYNC_RUNS=10000`.
  private func run(_ profile: Simulation.Profile, _ runs: Int, _ name: String) {
    var random = SeededGenerator.forTest(name)
    var counts = Simulation.Counts()
    let all = environmentNumber("VIVARIUM_SYNC_RUNS", default: runs)
    for _ in 0..<all {
      let seed = random.next()
      var simulation = Simulation(seed: seed, profile: profile)
      do {
        try simulation.run()
      } catch {
        Issue.record("run \(seed): \(error)")
        return
      }
      counts += simulation.counts
    }
    print(name, "\(all) runs:", counts)
    #expect(counts.operations > 0 && counts.oracles > 0)
  }

  @Test func `replicas that edit, lose answers and are refused converge`() {
    run(Simulation.Profile(), 12, #function)
  }

  @Test func `replicas converge whatever is purged, and when`() {
    var profile = Simulation.Profile(steps: 600, refusedOneIn: 0, edits: 18, purges: 20, truncations: 0)
    profile.deletesOneIn = 4
    run(profile, 8, #function)
    profile.refusedOneIn = 12
    run(profile, 8, #function + " refused")
  }

  @Test func `replicas converge when the log is cut off behind them`() {
    run(Simulation.Profile(purges: 6, truncations: 8), 10, #function)
  }
}
