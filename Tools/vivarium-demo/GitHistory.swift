import Foundation

/// One commit as `git log` tells it.
struct GitCommit {
  var hash: String
  var parents: [String]
  var authorName: String
  var authorMail: String
  var date: Date
  var subject: String
  var paths: [String]
}

/// Reads the history of a git repository.
enum GitHistory {
  private static let record: Character = "\u{1E}"
  private static let field: Character = "\u{1F}"

  /// At most `limit` commits, the newest, oldest first.
  static func commits(of repository: String, limit: Int) throws -> [GitCommit] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "git", "-C", repository, "-c", "core.quotePath=false", "log", "--max-count=\(limit)", "--no-renames", "--name-only",
      "--format=%x1e%H%x1f%P%x1f%an%x1f%ae%x1f%at%x1f%s%x1f",
    ]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    do { try process.run() } catch { throw DemoError("git cannot be run: \(error.localizedDescription)") }
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw DemoError("\(repository) is no git repository with a history (git exited with \(process.terminationStatus)).")
    }
    let commits = String(decoding: data, as: UTF8.self).split(separator: record).compactMap(commit)
    if commits.isEmpty { throw DemoError("\(repository) has no commits.") }
    return commits.reversed()
  }

  private static func commit(_ text: Substring) -> GitCommit? {
    let fields = text.split(separator: field, omittingEmptySubsequences: false)
    guard fields.count == 7, let seconds = Double(fields[4]) else { return nil }
    return GitCommit(
      hash: String(fields[0]), parents: fields[1].split(separator: " ").map(String.init), authorName: String(fields[2]),
      authorMail: String(fields[3]), date: Date(timeIntervalSince1970: seconds), subject: String(fields[5]),
      paths: fields[6].split(separator: "\n").map(String.init))
  }
}
