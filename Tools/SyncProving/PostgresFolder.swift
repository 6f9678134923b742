import Foundation

/// A PostgreSQL server of a program's own: in a temporary folder, on a socket there, and in no network. It ends with the process that
/// began it, however that ends.
public final class PostgresFolder: Sendable {
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

  /// Whether PostgreSQL is installed here.
  public static var isInstalled: Bool { programs != nil }

  private let folder: String
  private let script = Process()
  private let life = Pipe()
  private let answers = Pipe()

  /// It does not run as root, and ends when nobody holds the other end of its input.
  private static let text = """
    set -e
    trap '' INT TERM HUP
    cd "$1"
    "$2/initdb" -D data -U vivarium -A trust -E UTF8 --locale=C --no-sync >log 2>&1
    "$2/pg_ctl" -D data -w -l log -o "-k $1 -c listen_addresses='' -c fsync=off -c max_connections=300" start >>log 2>&1
    echo ready
    while read -r _; do
      "$2/pg_ctl" -D data -w -l log -m immediate restart >>log 2>&1 || true
      echo ready
    done
    "$2/pg_ctl" -D data -m immediate stop >>log 2>&1 || true
    cd /
    rm -rf "$1"
    """

  /// Starts it, and waits until it listens. Throws where it is not installed or does not start.
  public init() throws {
    folder = "/tmp/vivarium-pg-\(UInt32.random(in: 0 ... .max))"
    guard let programs = PostgresFolder.programs else { throw Refused(description: "PostgreSQL is not installed.") }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    let shell = ["/bin/sh", "-c", PostgresFolder.text, "sh", folder, programs]
    let user: String = ["postgres", "nobody"].first { (name: String) in getpwnam(name) != nil } ?? "nobody"
    let asItsUser = getuid() == 0 ? ["runuser", "-u", user, "--"] : []
    if getuid() == 0, let entry = getpwnam(user) { chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid) }
    script.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    script.arguments = asItsUser + shell
    script.standardInput = life
    script.standardOutput = answers
    try script.run()
    try waitUntilReady()
  }

  private func waitUntilReady() throws {
    guard String(decoding: answers.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("ready") else {
      let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "there is no log"
      throw Refused(description: "PostgreSQL does not start: \(log)")
    }
  }

  private struct Refused: Error, CustomStringConvertible { let description: String }

  /// The address of one of its databases, as libpq takes it. "postgres" is there from the start, and empty.
  public func address(of database: String = "postgres") -> String { "host=\(folder) user=vivarium dbname=\(database)" }

  /// Makes another database, empty or from a back-up.
  public func make(_ database: String, from backUp: String? = nil) throws {
    try run("createdb", [database])
    if let backUp { try run("psql", ["-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-f", backUp, database]) }
  }

  /// Writes what a database has at one moment to a file, while others use it. Returns when it is done.
  public func backUp(_ database: String, to file: String) throws { try run("pg_dump", ["-f", file, database]) }

  /// What a statement gives, a line a row.
  public func ask(_ database: String, _ statement: String) throws -> String { try run("psql", ["-qAt", "-c", statement, database]) }

  /// Ends it at once, whatever it is doing, as a crash does, and starts it again: it recovers from its log. All connections are lost.
  /// Returns when it listens.
  public func crash() throws {
    // By the script: on Linux whoever starts a process with Foundation waits for what that has started, too, and so for the server's end.
    try life.fileHandleForWriting.write(contentsOf: Data("crash\n".utf8))
    try waitUntilReady()
  }

  /// Ends the connections of everybody else to a database, in the middle of whatever they do.
  public func endConnections(to database: String = "postgres") throws {
    _ = try ask(
      database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> pg_backend_pid()")
  }

  private static func path(of program: String) -> String { "\(programs ?? "/usr/bin")/\(program)" }

  @discardableResult private func run(_ program: String, _ arguments: [String]) throws -> String {
    let command = [PostgresFolder.path(of: program), "-h", folder, "-U", "vivarium"] + arguments
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Refused(description: "\(command.joined(separator: " ")) has failed.") }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
