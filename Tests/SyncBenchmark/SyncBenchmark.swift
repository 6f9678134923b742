import ArgumentParser
import ChangeTracker
import Foundation
import StorageInterface
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Vivarium

/// One line of the result, as the other benchmark's.
struct Measurement: Codable {
  var engine: String
  var workload: String
  var count: Int
  var seconds: Double
  var bytes: Int?
  var note: String
}

/// Measures what replication costs a file, and what it takes from one device to another by a server.
@main struct SyncBenchmark: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-bench", abstract: "Measures what replication costs. One JSON line for each figure. Build for release.")

  @Option(help: "memory, lmdb or sqlite; several with commas.") var engines = "memory,lmdb,sqlite"
  @Option(
    help: """
      S1, S2, S3, S4 of a file, S6, S9, S10 of each engine by the server's program beside this one, S7, S8 of many devices by the \
      same, S5, S9 of a server's stores.
      """)
  var workloads = "S1,S2,S3,S4"
  @Option(help: "Where a server's stores are: memory, embedded or postgres; several with commas.") var homes = "embedded"
  @Option(help: "The address of an empty database, for the home 'postgres'.") var postgres: String?
  @Option(help: "A hundredth for a run that only shows that it works.") var scale = 1.0

  @MainActor func run() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sync-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in homes.split(separator: ",") { try await serve(name, folder) }
    for name in engines.split(separator: ",") {
      guard let engine = Engine(rawValue: String(name)) else { throw ValidationError("There is no engine '\(name)'.") }
      for workload in workloads.split(separator: ",") {
        let course = SyncCourse(engine: engine, folder: folder.appendingPathComponent("\(name)-\(workload)"), scale: scale)
        try FileManager.default.createDirectory(at: course.folder, withIntermediateDirectories: true)
        switch workload {
        case "S1": try await report(course.integrate())
        case "S2": for part in [1, 2] { try await report(course.rebase(part: part)) }
        case "S3": try await report(course.heal())
        case "S4": for line in try await course.mergeData() { report(line) }
        case "S5", "S7", "S8": continue
        #if Sync
        case "S6": for home in try servers(folder) { try await report(WireCourse(course, home).latency()) }
        case "S9":
          for home in try servers(folder) {
            for lists in [false, true] { try await report(WireCourse(course, home).wholeStore(lists: lists)) }
          }
        case "S10": for home in try servers(folder) { try await report(WireCourse(course, home).killedServer()) }
        #endif
        default: throw ValidationError("There is no workload '\(workload)'.")
        }
      }
    }
  }

  private func server(_ name: some StringProtocol, _ folder: URL) throws -> ServerCourse {
    guard let home = ServerCourse.Home(rawValue: String(name)) else { throw ValidationError("There is no home '\(name)'.") }
    if home == .postgres, postgres == nil { throw ValidationError("The home 'postgres' needs --postgres ADDRESS.") }
    return ServerCourse(home: home, folder: folder, address: postgres, scale: scale)
  }

  /// The homes that the server's program can have.
  private func servers(_ folder: URL) throws -> [ServerCourse] {
    try homes.split(separator: ",").map { try server($0, folder) }.filter { $0.home != .memory }
  }

  private func serve(_ name: some StringProtocol, _ folder: URL) async throws {
    let course = try server(name, folder)
    let home = course.home
    for workload in workloads.split(separator: ",") {
      switch workload {
      case "S5":
        if home == .postgres {
          try await report(course.commits("S5.one.unbatched", stores: 1, writers: 8, batch: 1))
          try await report(course.commits("S5.one.batched", stores: 1, writers: 64))
        } else {
          try await report(course.commits("S5.one", stores: 1, writers: 8))
        }
        try await report(course.commits("S5.many", stores: 100, writers: 200))
      case "S9": try await report(course.snapshot())
      #if Sync
      case "S7": try await report(CrowdCourse(course).fanOut())
      case "S8": try await report(CrowdCourse(course).idle())
      #endif
      default: continue
      }
    }
  }

  private func report(_ line: Measurement) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    guard let data = try? encoder.encode(line) else { return }
    FileHandle.standardOutput.write(data + Data("\n".utf8))
  }
}
