import ArgumentParser
import Foundation
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

  @Flag(help: "Client and server sessions speak, in frames over wires that are cut at any byte.") var frames = false
  @Flag(help: "Prints what happens between sessions.") var trace = false
  @Flag(help: "Plants one fault after the other, and says which seed finds it.") var mutants = false

  func run() async throws {
    if mutants { return try await findFaults() }
    var divergent = 0
    for name in engines.split(separator: ",") {
      guard let engine = Engine(rawValue: String(name)) else { throw ValidationError("There is no engine '\(name)'.") }
      var options = Simulation.Options(clients: clients, steps: steps, engine: engine, isFramed: frames)
      if trace { options.trace = { FileHandle.standardOutput.write(Data(($0 + "\n").utf8)) } }
      var total = Simulation.Report()
      for number in 0..<UInt64(max(seeds, 0)) {
        do {
          total = total + (try await Simulation.run(seed: seed &+ number, options))
        } catch {
          divergent += 1
          say("seed \(seed &+ number): \(error)")
        }
      }
      say(
        """
        \(engine.rawValue): \(seeds) seeds, \(total.writes) writes, \(total.operations) operations, \(total.uploads) uploads \
        (\(total.repeats) repeated), \(total.refusals) refusals and \(total.voids) voids, \(total.deltas) deltas, \
        \(total.snapshots) snapshots, \(total.purges) purges, \(total.restarts) restarts, \(total.resets) dated anew, \
        \(total.serverRestores) servers and \(total.fileRestores) files restored, \(total.events) events, \(total.comparisons) comparisons\
        \(frames ? ", \(total.actions) steps of sessions, \(total.cuts) cuts, \(total.serverKills) servers killed" : "")\
        \(frames ? ", \(total.rests) walks over objects went on behind a cut" : "")
        """)
    }
    say("divergent \(divergent)")
    if divergent > 0 { throw ExitCode.failure }
  }

  private func findFaults() async throws {
    var missed: [PlantedFault] = []
    // Where sessions speak for themselves, what they say is theirs.
    let all = PlantedFault.allCases.filter { !frames || ($0 != .refusalsUnreported && $0 != .clockStandsStill) }
    for fault in all {
      let found = await Simulation.finds(
        fault, seeds: seed..<seed &+ UInt64(max(seeds, 1)), Simulation.Options(clients: clients, steps: steps, isFramed: frames))
      say("\(fault.rawValue): \(found.map { "found by seed \($0)" } ?? "not found")")
      if found == nil { missed.append(fault) }
    }
    say(missed.isEmpty ? "all \(all.count) caught" : "\(missed.count) not caught")
    if !missed.isEmpty { throw ExitCode.failure }
  }

  /// At once: who runs a thousand seeds wants to see how far they are.
  private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
