#if Sync
import Foundation
import SyncProving

// Devices and servers that die at points, and a database that crashes.

extension CheckCommand {
  /// A device dies before and after each of the first things that it passes on.
  func killAtPoints(_ database: PostgresFolder?, _ report: Report) async throws {
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

  /// A device dies in each work of its replicator.
  func killDevicesAtPoints(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("works", 3, database, report)
    for _ in 0..<pointKills {
      for point in ReplicatorWork.always.flatMap(\.points) {
        if try await !fleet.deviceDies(at: point) { report.violation("no device came to the point '\(point)'") }
      }
      for work in ReplicatorWork.onArrival {
        for point in work.points {
          if try await !fleet.newcomerDies(at: point, of: work) { report.violation("no device came to the point '\(point)'") }
        }
      }
    }
    try await fleet.judgeNewcomers()
    try await fleet.settle()
    await fleet.end()
  }

  /// A server dies at each of its points.
  func killServersAtPoints(_ database: PostgresFolder?, _ report: Report) async throws {
    let fleet = try await fleet("failpoints", 3, database, report)
    for _ in 0..<pointKills {
      for point in Fuse.points {
        if try await !fleet.dieAtPoint(point) { report.violation("no server came to the point '\(point)'") }
      }
    }
    try await fleet.renewServers()
    try await fleet.settle()
    await fleet.end()
  }

  /// The database crashes and recovers while devices write through two servers, which go on; in between all connections to it are ended.
  func crash(_ database: PostgresFolder?, times: Int, _ report: Report) async throws {
    guard let database else { throw CheckFailed("Only what has a database can have it crash: '--store postgres'.") }
    let fleet = try await fleet("crashes", 4, database, report)
    for _ in 0..<times {
      try await fleet.rest(300)
      // Not here, where wires go on.
      try await Task.detached { try database.endConnections() }.value
      try await fleet.rest(300)
      try await Task.detached { try database.crash() }.value
      report.count("crashes of the database", 1)
    }
    fleet.lookAtServers()
    try await fleet.settle()
    await fleet.end()
  }
}
#endif
