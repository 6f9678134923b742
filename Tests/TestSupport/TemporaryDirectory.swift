import Foundation

/// A folder of its own that is removed, with all in it, with the last reference.
public final class TemporaryDirectory: Sendable {
  public let url: URL

  public init(_ name: String = "vivarium") {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("\(name)-\(UUID().uuidString)")
    do { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) } catch {
      print("No temporary folder at \(url.path): \(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A path in the folder; nothing is made there.
  public func file(_ name: String = "store") -> URL { url.appendingPathComponent(name) }
}
