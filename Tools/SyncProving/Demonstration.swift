import Foundation

/// What demonstrations have in common.
public enum Demonstration {
  /// It did not show what it was to show.
  public struct Trouble: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
  }

  /// Runs a demonstration in a folder, or in a temporary one that is removed. Prints what went wrong, and returns whether nothing did.
  /// Ends the process where nothing comes for two minutes.
  public static func run(_ name: String, in folder: String?, _ show: (URL) throws -> Void) -> Bool {
    let place =
      folder.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory.appending(path: "vivarium-\(name)-\(UUID())")
    defer { if folder == nil { try? FileManager.default.removeItem(at: place) } }
    DispatchQueue.global().asyncAfter(deadline: .now() + 120) {
      FileHandle.standardError.write(Data("demo: nothing came for two minutes\n".utf8))
      ChildProgram.killAll()
      Foundation.exit(1)
    }
    do { try show(place) } catch {
      print("demo: \(error)")
      return false
    }
    return true
  }

  /// Begins a part.
  public static func title(_ text: String) {
    print("\n\(text)")
    fflush(nil)
  }
}
