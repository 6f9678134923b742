import Foundation

/// A directory of its own for a test, removed with the last reference.
final class Scratch: Sendable {
  let path: String

  init() throws {
    // In memory where the system offers that: the tests sync often, and none looks at what a disk does.
    let memory = "/dev/shm"
    let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
    path = parent + "/vivarium-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { path + "/" + name }
}

extension Scratch {
  /// Makes an empty file and gives its path.
  @discardableResult func touch(_ name: String) -> String {
    _ = FileManager.default.createFile(atPath: file(name), contents: nil)
    return file(name)
  }
}
