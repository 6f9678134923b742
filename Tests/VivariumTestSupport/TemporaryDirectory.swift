import Foundation

/// A folder of its own that is removed, with all in it, with the last reference.
public final class TemporaryDirectory: Sendable {
  public let url: URL

  /// In memory where the system offers that and has room: the tests sync often, and none looks at what a disk does.
  private static let parent: URL = {
    #if os(Linux)
    let memory = "/dev/shm"
    var volume = statvfs()
    if FileManager.default.isWritableFile(atPath: memory), statvfs(memory, &volume) == 0,
      UInt64(volume.f_bavail) * UInt64(volume.f_frsize) > 2 << 30 {
      return URL(fileURLWithPath: memory)
    }
    #endif
    return FileManager.default.temporaryDirectory
  }()

  public init(_ name: String = "vivarium") {
    url = Self.parent.appendingPathComponent("\(name)-\(UUID().uuidString)")
    do { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) } catch {
      print("No temporary folder at \(url.path): \(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A path in the folder; nothing is made there.
  public func file(_ name: String = "store") -> URL { url.appendingPathComponent(name) }
}
