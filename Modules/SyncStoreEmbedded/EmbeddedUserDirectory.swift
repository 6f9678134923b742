import Foundation
import StorageCoordination
import StorageInterface
import SyncServer

/// A server's users in one file of its folder, which nobody else may read. Another process may change it while the server runs: the file
/// is read again whenever it was replaced.
///
/// **Cost.** A read checks the file's date; a change writes the whole file. For thousands of users; more need a database.
public actor EmbeddedUserDirectory: ContentsDirectory {
  private let path: String
  private var known: (mark: Mark, contents: DirectoryContents)?

  /// Distinguishes a file from its replacement.
  private struct Mark: Hashable {
    let file: UInt64
    let size: UInt64
    let changed: Date
  }

  /// Creates the directory of a file; a missing file has no users.
  public init(path: String) { self.path = path }

  public func contents() throws(ServerStoreError) -> DirectoryContents {
    guard let mark = mark() else { return DirectoryContents() }
    if let known, known.mark == mark { return known.contents }
    let contents: DirectoryContents
    do { contents = try JSONDecoder().decode(DirectoryContents.self, from: Data(contentsOf: URL(fileURLWithPath: path))) } catch {
      throw ServerStoreError(.unavailable, "The users cannot be read from '\(path)': restore that file from a back-up.")
    }
    known = (mark, contents)
    return contents
  }

  public func change<R: Sendable>(_ body: @Sendable (inout DirectoryContents) -> R) async throws(ServerStoreError) -> R {
    let turn = try await turn()
    defer { withExtendedLifetime(turn) {} }
    let before = try contents()
    var contents = before
    let result = body(&contents)
    if contents != before { try write(contents) }
    return result
  }

  /// Waits for the lock; other processes hold it for milliseconds.
  private func turn() async throws(ServerStoreError) -> FileTurn {
    for _ in 0..<1000 {
      do throws(StorageError) {
        if let turn = try FileTurn.take(path: path + ".lock", "lock of the users", mode: 0o600) { return turn }
      } catch { throw ServerStoreError(error) }
      do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
    }
    throw ServerStoreError(.unavailable, "Another process has the users' file '\(path)', and does not let go of it.")
  }

  private func mark() -> Mark? {
    guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
    return Mark(
      file: (found[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0, size: (found[.size] as? NSNumber)?.uint64Value ?? 0,
      changed: found[.modificationDate] as? Date ?? .distantPast)
  }

  /// A new file replaces the old one, so that nobody reads half of it.
  private func write(_ contents: DirectoryContents) throws(ServerStoreError) {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try PrivateFile.write(try encoder.encode(contents), to: path)
    } catch let error as ServerStoreError { throw error } catch {
      throw ServerStoreError(.unavailable, "The users cannot be written to '\(path)': \(error.localizedDescription)")
    }
    known = nil
  }
}
