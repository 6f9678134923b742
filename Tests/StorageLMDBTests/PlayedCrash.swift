import Foundation
import StorageInterface
import Testing

@testable import StorageLMDB

/// A crash of the system, played: the pages that a killed process wrote since the last sync reach the disk or not, each by a coin, and
/// the side file says that another run of the system wrote it.
struct PlayedCrash {
  let path: String

  private func file() throws -> SafePointFile {
    let files = try #require(LMDBFiles(existing: path))
    return try #require(try SafePointFile(files: files, creates: false, mode: 0))
  }

  /// Makes the newest point one of an earlier run of the system. `changing`: what else becomes of it.
  func restartSystem(_ changing: (inout SafePoint) -> Void = { _ in }) throws {
    try file().update { newest in
      guard var point = newest else { return nil }
      point.system.low ^= 1
      changing(&point)
      return point
    }
  }

  /// Every page that differs from `before` becomes, by a coin, what it was.
  func loseWrites(since before: Data, seed: UInt64) throws {
    let url = URL(fileURLWithPath: path)
    var data = try Data(contentsOf: url)
    var state = seed
    for page in 0..<data.count / 4096 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      guard state >> 63 == 0 else { continue }
      let range = page * 4096..<(page + 1) * 4096
      data.replaceSubrange(range, with: range.upperBound <= before.count ? before[range] : Data(count: 4096))
    }
    // In place: another file has nothing to do with the point.
    let file = try FileHandle(forWritingTo: url)
    try file.write(contentsOf: data)
    try file.close()
  }

  /// Keeps what the disk has by now, beside the store.
  static func keep(_ path: String) throws {
    try Data(contentsOf: URL(fileURLWithPath: path)).write(to: URL(fileURLWithPath: path + ".before"))
  }

  func happen(seed: UInt64) throws {
    try loseWrites(since: Data(contentsOf: URL(fileURLWithPath: path + ".before")), seed: seed)
    try restartSystem()
  }
}
