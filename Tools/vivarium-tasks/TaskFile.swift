import Foundation

/// The file that was opened, to be told from no file and from another one under its name.
struct TaskFile {
  private let path: String
  private let number: Int?

  init(_ url: URL) {
    path = url.path
    number = TaskFile.number(path)
  }

  /// Whether somebody has deleted it, or put another in its place: then what is written reaches nobody who comes later.
  var isGone: Bool { number != TaskFile.number(path) }

  private static func number(_ path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.systemFileNumber] as? NSNumber)?.intValue
  }
}
