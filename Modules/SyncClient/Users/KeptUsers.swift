import Foundation
import StorageCoordination
import StorageInterface

/// The users that a device remembers, in a file that only the owner may read. Several processes may use it.
struct KeptUsers: Sendable {
  struct User: Hashable, Sendable, Codable {
    var refreshToken: String
    var accessToken: String
    /// By this device's clock, in milliseconds since 1970. Good enough to renew the token in time; the server decides.
    var accessEnds: Int64
  }

  struct Contents: Hashable, Sendable, Codable {
    var users: [String: User] = [:]
    var current: String?
  }

  let path: String

  func read() throws(StorageError) -> Contents {
    guard FileManager.default.fileExists(atPath: path) else { return Contents() }
    do { return try JSONDecoder().decode(Contents.self, from: Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw StorageError(
        .io, .engine, "The users in '\(path)' cannot be read.", remedy: "Remove the file, and have the users log in again.")
    }
  }

  func write(_ contents: Contents) throws(StorageError) {
    let new = path + ".new"
    try? FileManager.default.removeItem(atPath: new)
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: NSNumber(value: Int16(0o600))]
    guard let data = try? JSONEncoder().encode(contents),
      FileManager.default.createFile(atPath: new, contents: data, attributes: attributes),
      let handle = FileHandle(forWritingAtPath: new), (try? handle.synchronize()) != nil, rename(new, path) == 0,
      // Without it, a power cut may bring back the old file, whose refresh token is used up.
      (try? Folder.sync(of: path)) != nil
    else {
      throw StorageError(
        .io, .engine, "The users cannot be written to '\(path)'.",
        remedy: "See that the folder is there, that it may be written, and that the disk is not full.")
    }
    try? handle.close()
  }

  /// Waits for the right to change the file and to use its refresh tokens, each of which is valid until its successor is used.
  func turn() async throws -> FileTurn {
    for _ in 0..<6000 {
      if let turn = try FileTurn.take(path: path + ".lock", "lock of the users", mode: 0o600) { return turn }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw StorageError(
      .io, .engine, "Another process has the users' file '\(path)', and does not let go of it.",
      remedy: "End the process that has it.")
  }
}
