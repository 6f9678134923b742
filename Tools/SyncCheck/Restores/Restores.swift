#if Sync
import Foundation
import SyncClient
import SyncProving

/// A back-up of the running server is taken while devices write, the server is killed, and started from the back-up. The devices find
/// another history, and each does what its mode says: in the end all show the same, with everything that the server had before the
/// back-up, and with what a device had not sent, once and in order. What the server got between back-up and death is lost, as it has to be.
@MainActor final class Restores {
  private static let modes: [ResetMode] = [.recover, .discard, .recoverOrDiscard, .manual, .recover, .discard]
  private static let patience = Duration.seconds(60)

  private let report: Report
  private var random: SplitMix
  private let servers: RestoredServers
  private var devices: [RestoredDevice] = []
  private let folder: URL

  init(_ home: ServerHome, _ postgres: PostgresFolder?, folder: URL, seed: UInt64, report: Report) throws {
    guard home != .memory else { throw CheckFailed("A server in memory has nothing that could be restored.") }
    (self.report, random, self.folder) = (report, SplitMix(state: seed), folder)
    servers = try RestoredServers(home, postgres, in: folder)
  }

  func run(rounds: Int) async throws {
    for (number, mode) in Restores.modes.enumerated() {
      let ports = servers.ports
      let wire = try await Wire(to: ports[number % ports.count])
      devices.append(try RestoredDevice(number, mode, token: servers.token, wire: wire, in: folder))
    }
    try devices[0].makeCommonList()
    for device in devices { await device.start() }
    await settle()
    for round in 1...max(1, rounds) {
      try await restore()
      if round.isMultiple(of: 10) { report.say("\(round) restores, \(devices.reduce(0) { $0 + $1.written }) writes") }
    }
    report.count("restores", rounds)
    report.count("writes", devices.reduce(0) { $0 + $1.written })
    for device in devices {
      await device.stop()
      await device.wire.end()
    }
    servers.killAll()
  }

  private func writeSome(_ most: Int, _ some: [RestoredDevice]) async throws {
    for _ in 0..<Int.random(in: 0...most, using: &random) {
      try some.randomElement(using: &random)?.write()
      await Task.yield()
    }
  }

  private func restore() async throws {
    // Some have no network meanwhile, and all that they write waits.
    let away = devices.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
    for device in away { device.wire.change { $0.isCut = true } }
    try await writeSome(40, devices)
    for device in devices where !away.contains(where: { $0 === device }) {
      let safe = device.written
      guard await device.sendEverything(within: Restores.patience) else {
        report.violation("\(device.name) could not send everything: \(await device.state)")
        continue
      }
      device.keepWritten(upTo: safe)
    }
    let writing = Task { try await writeOnAndOn() }
    try await servers.backUp()
    try await Task.sleep(for: .milliseconds(Int.random(in: 0...200, using: &random)))
    writing.cancel()
    try await writing.value
    try await die()
    try await live()
  }

  private func writeOnAndOn() async throws {
    while !Task.isCancelled {
      try devices.randomElement(using: &random)?.write()
      do { try await Task.sleep(for: .milliseconds(Int.random(in: 0...6, using: &random))) } catch { return }
    }
  }

  /// The servers die, the devices write on, and what was not answered is noted.
  private func die() async throws {
    for device in devices { device.wire.change { $0.isCut = true } }
    servers.killAll()
    for device in devices { device.noteDeath() }
    // What had come before is taken in.
    try await Task.sleep(for: .milliseconds(300))
    try await writeSome(20, devices)
    for device in devices { try device.noteUnsent() }
  }

  /// The servers come back as they were at the back-up, and everybody is asked.
  private func live() async throws {
    var before: [Int] = []
    for device in devices { before.append(await device.beginnings) }
    try servers.restore()
    let ports = servers.ports
    for device in devices {
      device.wire.lead(to: ports[device.number % ports.count])
      device.wire.change { $0.isCut = false }
    }
    await settle()
    for (device, before) in zip(devices, before) {
      let count = await device.beginnings - before
      if count != 1 { report.violation("\(device.name) began anew \(count) times after one restore") }
      report.count("beginnings", count)
    }
    judge()
  }

  private func settle() async {
    for device in devices {
      if await !device.sendEverything(within: Restores.patience) {
        report.violation("\(device.name) could not send everything: \(await device.state)")
      }
    }
    for device in devices {
      if await !device.takeEverything(within: Restores.patience) {
        report.violation("\(device.name) did not come to rest: \(await device.state)")
      }
    }
  }

  private func judge() {
    let first = devices[0].picture
    for device in devices {
      for fault in device.faults { report.violation(fault) }
      let picture = device.picture
      if picture != first {
        report.violation("\(device.name) and \(devices[0].name) differ: \(Set(picture).symmetricDifference(first).sorted())")
      }
      report.count("writes that the server had not answered", device.unsent.count)
      device.rest()
    }
    report.count("comparisons", devices.count)
  }
}
#endif
