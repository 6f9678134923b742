#if Sync && os(Linux)
import Foundation

/// A network namespace that this process has made, under a name with the process's number, until it is removed.
struct NetworkNamespace: Sendable {
  private static let prefix = "sync-check-"

  let name: String
  /// A program and its first arguments that start another program in the namespace, and become it.
  let command: [String]

  private init(named name: String) throws {
    self.name = name
    command = [try IPProgram.found(), "netns", "exec", name]
  }

  /// Makes it. Throws where that is not allowed, in the words of `ip`.
  init(_ number: Int) throws {
    try self.init(named: "\(NetworkNamespace.prefix)\(getpid())-\(number)")
    try IPProgram.run(["netns", "add", name])
  }

  /// Runs `ip` within it.
  func ip(_ arguments: String...) throws { try IPProgram.run(["-n", name] + arguments) }

  /// Kills the processes within it, and removes it.
  func remove() throws {
    for line in try IPProgram.run(["netns", "pids", name]) {
      if let id = Int32(line) { kill(id, SIGKILL) }
    }
    try IPProgram.run(["netns", "del", name])
  }

  /// Removes what checks that were killed have left.
  static func removeLeftovers() throws {
    for line in try IPProgram.run(["netns", "list"]) where line.hasPrefix(prefix) {
      let name = String(line.prefix { $0 != " " })
      guard let owner = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" }), kill(owner, 0) != 0, errno == ESRCH else { continue }
      do { try NetworkNamespace(named: name).remove() } catch {
        // Another check that has just begun was first.
      }
    }
  }
}
#endif
