import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

// What happens where sessions speak for themselves.

extension SimulatedWorld {
  func step(_ index: Int, _ network: FramedNetwork) async throws {
    switch random.below(30) {
    case 0..<8:
      options.trace?("step \(step0): \(index + 1) writes")
      try await edit(index)
      network.wrote(index)
    case 8..<19: try await speak(network, 1 + random.below(40))
    case 19:
      network.cut(index)
      report.cuts += 1
    case 20, 21:
      if random.oneIn(3) {
        isAway[index] = step0 + random.below(80)
        network.cut(index)
      }
    case 22:
      options.trace?("step \(step0): a purge")
      try await purge()
      network.tell()
    case 23: if random.oneIn(3) { try await server.truncateLog(path, through: Seq(UInt64(random.below(log.changesets + 1)))) }
    case 24: try await restart(index)
    case 25: try await handle()
    case 26: if random.oneIn(3) { replicas[index].setClock(ahead: Int64(random.below(1_200_000)) - 600_000) }
    case 27: if hasDisasters, random.oneIn(6) { try await restoreServer() }
    case 28: if hasDisasters, random.oneIn(3) { try await restoreFile(index) }
    default:
      if random.oneIn(3) { backUp = (try await server.backUp(path), log, handlerCursor) }
      if random.oneIn(3) {
        network.killServer()
        report.serverKills += 1
      }
    }
    (report.actions, report.resets, report.snapshots, report.rests) = (network.count, network.resets, network.fetches, network.rests)
  }

  /// Lets things happen between the devices and the server, and looks at the files that took part.
  private func speak(_ network: FramedNetwork, _ steps: Int) async throws {
    try await network.run(steps)
    for index in network.takeTouched().sorted() { try await check(index, "after the sessions spoke") }
  }
}
