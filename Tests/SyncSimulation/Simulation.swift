import Foundation
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium
import VivariumTestSupport

/// Replicas on real stores that edit, upload, resend, lose messages, are refused, fall behind the log, restart, are restored from back-ups
/// and come back, with a server in memory, which is restored too: one thread, one seed, the same every time.
///
/// After every step of interest it is checked that
/// - the merge state of a file shows what the file does, which people wrote through the public interface;
/// - a file is what the accepted changes up to its cursor and its own pending ones give, merged anew from the first one on;
/// - the cursor never goes back, and each event comes to the server's handler once;
/// - an observer that knows a file by its change sets alone knows what is there;
/// and at rest that all files are equal, and what the server has.
@MainActor public struct Simulation {
  /// How much, and where.
  public struct Options: Sendable {
    /// How many replicas.
    public var clients = 4
    /// How many things happen before everybody comes to rest.
    public var steps = 600
    /// What keeps the files.
    public var engine = Engine.memory
    /// A rule that is broken; nil for none.
    public var fault: PlantedFault?

    /// Whether the sessions of clients and server speak, in encoded frames over wires that are cut at any byte, and decide what is sent and
    /// taken in; otherwise the simulation does, and what they decide is not looked at.
    public var isFramed = false

    /// Told of all that happens between sessions, for who looks for the cause of a divergence.
    public var trace: (@Sendable (String) -> Void)?

    public init(clients: Int = 4, steps: Int = 600, engine: Engine = .memory, fault: PlantedFault? = nil, isFramed: Bool = false) {
      (self.clients, self.steps, self.engine, self.fault) = (clients, steps, engine, fault)
      self.isFramed = isFramed
    }
  }

  /// What happened.
  public struct Report: Sendable {
    public var writes = 0
    public var operations = 0
    public var uploads = 0
    public var repeats = 0
    public var refusals = 0
    public var voids = 0
    public var deltas = 0
    public var snapshots = 0
    /// Walks over objects that went on behind a cut.
    public var rests = 0
    public var purges = 0
    public var restarts = 0
    /// Replicas that began anew, as their clock had been wrong.
    public var resets = 0
    public var serverRestores = 0
    public var fileRestores = 0
    public var events = 0
    public var comparisons = 0
    /// Of wires.
    public var cuts = 0
    public var serverKills = 0
    /// What happened between sessions: parts that arrived, answers of files and stores, timers.
    public var actions = 0

    public init() {}

    /// All that happened in two simulations.
    public static func + (a: Report, b: Report) -> Report {
      var sum = a
      sum.writes += b.writes
      sum.operations += b.operations
      sum.uploads += b.uploads
      sum.repeats += b.repeats
      sum.refusals += b.refusals
      sum.voids += b.voids
      sum.deltas += b.deltas
      sum.snapshots += b.snapshots
      sum.rests += b.rests
      sum.purges += b.purges
      sum.restarts += b.restarts
      sum.resets += b.resets
      sum.serverRestores += b.serverRestores
      sum.fileRestores += b.fileRestores
      sum.events += b.events
      sum.comparisons += b.comparisons
      sum.cuts += b.cuts
      sum.serverKills += b.serverKills
      sum.actions += b.actions
      return sum
    }
  }

  /// Runs one. Throws `Divergence` where something is wrong; the same seed gives the same again.
  public static func run(seed: UInt64, _ options: Options = Options()) async throws -> Report {
    let directory = TemporaryDirectory("simulation")
    defer { withExtendedLifetime(directory) {} }
    let world = try await SimulatedWorld(seed: seed, options, directory)
    for _ in 0..<options.steps { try await world.step() }
    try await world.rest()
    return world.report
  }

  /// The first seed that finds a fault; nil where none of them does.
  public static func finds(_ fault: PlantedFault, seeds: Range<UInt64>, _ options: Options = Options()) async -> UInt64? {
    var options = options
    options.fault = fault
    for seed in seeds {
      do { _ = try await run(seed: seed, options) } catch { return seed }
    }
    return nil
  }
}
