#if Sync
import Foundation
import Synchronization
import VivariumTestSupport

@testable import SyncStorePostgres

/// A database server of the tests' own: in a temporary folder, on a socket there, and in no network. It ends with the process of the
/// tests, however that ends.
final class PostgresCluster: Sendable {
  /// The one of this process; nil where PostgreSQL is not installed. Throws where it does not start.
  static let shared = Result { try isInstalled ? PostgresCluster() : nil }

  /// Where the programs of PostgreSQL are; Debian keeps them by version, and out of the path.
  private static let programs: String? = {
    let debian = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
    let folders = versions.sorted { (Double($0) ?? 0) > (Double($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + path).first { folder in
      ["initdb", "pg_ctl"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
    }
  }()

  static var isInstalled: Bool { programs != nil }

  private let folder: String
  private let script = Process()
  private let life = Pipe()
  private let count = Atomic(0)
  private let control: PostgresConnection

  /// It does not run as root, and ends when nobody holds the other end of its input.
  private static let text = """
    set -e
    trap '' INT TERM HUP
    cd "$1"
    "$2/initdb" -D data -U vivarium -A trust -E UTF8 --locale=C --no-sync >log 2>&1
    "$2/pg_ctl" -D data -w -l log -o "-k $1 -c listen_addresses='' -c fsync=off -c max_connections=300" start >>log 2>&1
    echo ready
    read -r _ || true
    "$2/pg_ctl" -D data -m immediate stop >>log 2>&1 || true
    cd /
    rm -rf "$1"
    """

  private init() throws {
    folder = "/tmp/vivarium-pg-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    control = PostgresConnection(address: "host=\(folder) user=vivarium dbname=postgres", name: "control")
    let shell = ["/bin/sh", "-c", PostgresCluster.text, "sh", folder, PostgresCluster.programs ?? ""]
    let user: String = ["postgres", "nobody"].first { (name: String) in getpwnam(name) != nil } ?? "nobody"
    let command = getuid() == 0 ? ["runuser", "-u", user, "--"] + shell : shell
    if getuid() == 0, let entry = getpwnam(user) { chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid) }
    script.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    script.arguments = command
    script.standardInput = life
    let output = Pipe()
    script.standardOutput = output
    try script.run()
    guard String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ready") else {
      let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "there is no log"
      throw CocoaError(.executableLoad, userInfo: [NSLocalizedDescriptionKey: "PostgreSQL does not start: \(log)"])
    }
  }

  /// An empty database, and its address.
  func database() async throws -> String {
    let name = "t\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
    try await control.run { link throws(PostgresFailure) in try link.run("CREATE DATABASE \(name)") }
    return "host=\(folder) user=vivarium dbname=\(name)"
  }

  /// Does something as whoever looks after the databases.
  func control(_ statement: String) async throws {
    try await control.run { link throws(PostgresFailure) in try link.run(statement) }
  }
}

extension PostgresServerStore {
  /// A server of stores in a database of its own.
  static func forTest(_ configuration: Configuration = Configuration()) async throws -> (stores: PostgresServerStore, address: String) {
    guard let cluster = try PostgresCluster.shared.get() else { throw CocoaError(.fileNoSuchFile) }
    let address = try await cluster.database()
    return (try await PostgresServerStore(address, makesTables: true, configuration: configuration), address)
  }

  /// Another server of the stores of a database.
  static func beside(_ address: String, _ configuration: Configuration = Configuration()) async throws -> PostgresServerStore {
    try await PostgresServerStore(address, configuration: configuration)
  }
}
#endif
