import Foundation
import Synchronization

/// A directory of its own for a test, removed with the last reference.
final class Scratch: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/vivarium-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}

/// Something that several threads append to.
final class Diary<Entry: Sendable>: Sendable {
  private let stored = Mutex<[Entry]>([])
  func write(_ entry: Entry) { stored.withLock { $0.append(entry) } }
  var entries: [Entry] { stored.withLock { $0 } }
}

extension Scratch {
  /// Makes an empty file and gives its path.
  @discardableResult func touch(_ name: String) -> String {
    _ = FileManager.default.createFile(atPath: file(name), contents: nil)
    return file(name)
  }
}

/// Lets others run while a test waits for a thing that has no signal.
func yieldThread() { sched_yield() }
