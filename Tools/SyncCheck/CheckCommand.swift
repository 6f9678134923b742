#if Sync
import ArgumentParser
import Foundation
import SyncProving
import SyncServer

/// All checks, or some, and their sizes.
struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Makes the checks. Without a choice all of them; 0 leaves one out.",
    discussion: "With --store postgres two servers serve one database, of a PostgreSQL of the checks' own, and are killed in turn.")

  @Option(help: "Where the server keeps its stores.") var store = ServerHome.embedded
  @Option(help: "Cuts a session at every so many bytes, both ways.") var cutEvery = 1
  @Option(help: "Kills the server under load, so many times.") var serverKills = 20
  @Option(help: "Kills a device at each of the first things that it sends and receives, so many times.") var pointKills = 20
  @Option(help: "So many of these things.") var points = 12
  @Option(help: "Seconds of bad weather on the wires, and kills of everybody.") var seconds = 600
  @Option(help: "Devices in it.") var devices = 20
  @Option(help: "Kills who handles events, so many times.") var killHandler = 1_000
  @Option(help: "Frames of noise put to a server's connection.") var frames = 10_000_000
  @Option(help: "Repeats what is drawn.") var seed = UInt64.random(in: 1...UInt64(UInt32.max))
  @Flag(help: "Small sizes: about a minute.") var short = false

  func run() async throws {
    var sizes = self
    if short {
      (sizes.cutEvery, sizes.serverKills, sizes.pointKills, sizes.seconds, sizes.devices) = (max(cutEvery, 97), 4, 1, 20, 6)
      (sizes.frames, sizes.killHandler) = (min(frames, 100_000), min(killHandler, 25))
    }
    let report = Report()
    report.say("seed \(seed)")
    try await sizes.make(report)
    report.say(report.summary)
    if report.violations > 0 { throw ExitCode.failure }
  }

  private func make(_ report: Report) async throws {
    let database = store == .postgres ? try PostgresFolder() : nil
    if frames > 0 {
      var fuzz = Fuzz(frames: frames, report: report, random: SplitMix(state: seed))
      fuzz.run()
    }
    if cutEvery > 0 { try await cut(database, report) }
    if serverKills > 0 { try await killServers(database, report) }
    if pointKills > 0 { try await killAtPoints(database, report) }
    if seconds > 0 { try await badWeather(database, report) }
    if killHandler > 0 {
      var kills = HandlerKills(
        home: store, database: database?.address(), kills: killHandler, report: report, random: SplitMix(state: seed))
      try await kills.run()
    }
  }

  private func cut(_ database: PostgresFolder?, _ report: Report) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sync-check-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await Cuts(stores: try await store.open(database?.address() ?? folder.path), stride: cutEvery, report: report).run()
  }

  private func fleet(_ name: String, _ devices: Int, _ database: PostgresFolder?, _ report: Report) async throws -> Fleet {
    try await Fleet(Fleet.Options(name: name, devices: devices, home: store, database: database?.address(), seed: seed), report)
  }

  /// The server dies again and again while everybody writes.
  private func killServers(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("servers", 4, database, report)
    for _ in 0..<serverKills {
      try await fleet.rest(300)
      try await fleet.killServer()
    }
    try await fleet.settle()
    await fleet.end()
  }

  /// A device dies before and after each of the first things that it passes on.
  private func killAtPoints(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("points", 3, database, report)
    for _ in 0..<pointKills {
      for point in 1...max(1, points) {
        for way in ["--die-before", "--die-after"] {
          try fleet.killDevice(dying: [way, "\(point)", "--pause", "2"])
          try await fleet.rest(150)
          try fleet.revive()
        }
      }
    }
    try await fleet.settle()
    await fleet.end()
  }

  /// Wires that are slow, cut and dead, and kills of everybody in between.
  private func badWeather(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("weather", devices, database, report)
    let end = ContinuousClock.now + .seconds(seconds)
    var round = 0
    while ContinuousClock.now < end {
      round += 1
      try await fleet.rest(100)
      fleet.changeWeather()
      if round.isMultiple(of: 7) { try fleet.killDevice() }
      if round.isMultiple(of: 31) { try await fleet.killServer() }
    }
    try await fleet.settle(within: .seconds(120))
    await fleet.end()
  }
}
#endif
