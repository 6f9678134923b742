#if Sync
import SyncProving

/// Weather that changes all the time, and kills of everybody in between.
extension CheckCommand {
  /// Wires that are slow, cut and dead.
  func badWeather(_ database: PostgresFolder?, _ report: Report) async throws {
    try await live(through: seconds, fleet("weather", devices, database, report))
  }

  /// Packets between network namespaces that are late, lost, doubled and held back. Notes why not, where there can be none.
  func badWeatherInNamespaces(_ database: PostgresFolder?, _ report: Report) async throws {
    #if os(Linux)
    if let obstacle = NamespaceNetwork.obstacle() { return report.note("network namespaces: not run: \(obstacle)") }
    let network = try NamespaceNetwork(servers: store.servers, devices: devices, seed: seed)
    // Whatever happens: it kills who is left there.
    defer { network.end(report) }
    try await live(through: namespaceSeconds, fleet("namespaces", devices, database, report, over: network))
    #else
    report.note("network namespaces: not run: only Linux has them")
    #endif
  }

  private func live(through seconds: Int, _ fleet: Fleet) async throws {
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
