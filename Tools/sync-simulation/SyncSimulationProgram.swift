import ArgumentParser
import SyncSimulation

/// Runs simulations of replicas that agree, one after the other, and says where one does not.
@main struct SyncSimulationProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-simulation", abstract: "Simulates replicas on real stores that write, lose messages and come back.")

  @Option(help: "How many simulations, each with a seed of its own.") var seeds = 100
  @Option(help: "The first seed; the others follow it.") var seed: UInt64 = 1
  @Option(help: "Replicas of each.") var clients = 4
  @Option(help: "What happens in each before everybody comes to rest.") var steps = 600
  @Option(help: "memory, lmdb or sqlite; several with commas.") var engines = "memory"

  func run() async throws {
    var divergent = 0
    for name in engines.split(separator: ",") {
      guard let engine = Engine(rawValue: String(name)) else { throw ValidationError("There is no engine '\(name)'.") }
      let options = Simulation.Options(clients: clients, steps: steps, engine: engine)
      var total = Simulation.Report()
      for number in 0..<UInt64(max(seeds, 0)) {
        do {
          total = total + (try await Simulation.run(seed: seed &+ number, options))
        } catch {
          divergent += 1
          print("seed \(seed &+ number): \(error)")
        }
      }
      print(
        """
        \(engine.rawValue): \(seeds) seeds, \(total.writes) writes, \(total.operations) operations, \(total.uploads) uploads \
        (\(total.repeats) repeated), \(total.refusals) refusals and \(total.voids) voids, \(total.deltas) deltas, \(total.snapshots) snapshots, \
        \(total.purges) purges, \(total.restarts) restarts, \(total.events) events, \(total.comparisons) comparisons
        """)
    }
    print("divergent \(divergent)")
    if divergent > 0 { throw ExitCode.failure }
  }
}
