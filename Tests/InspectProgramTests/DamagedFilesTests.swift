import Foundation
import StorageInterface
import StorageLMDB
import Testing
import VivariumTestSupport

/// Damaged LMDB files, read from end to end by the program: each ends in an exit status.
@Suite struct DamagedFilesTests {
  private struct Ending {
    var isExit: Bool
    var status: Int32
    var errors: String
  }

  private func run(_ arguments: [String]) throws -> Ending {
    let process = Process()
    process.executableURL = try InspectProcess.program()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=yes,interactive=no,color=no"]) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Ending(
      isExit: process.terminationReason == .exit, status: process.terminationStatus, errors: String(decoding: text, as: UTF8.self))
  }

  @Test func damagedFilesEndInAStatus() throws {
    var random = SeededGenerator.forTest()
    let folder = TemporaryDirectory("damaged")
    let path = folder.file("store").path
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    try DamageSample.fill(engine, count: 90, &random)
    engine.close()
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // The sample has links that lead nowhere: what is compared is whether they can be read.
    let sound = try run(["export", path])
    #expect(sound.isExit && sound.status == 0)
    var refused = 0
    for round in 0..<environmentNumber("VIVARIUM_DAMAGED_FILES", default: 25) {
      var bytes = whole
      damage(&bytes, &random)
      let file = folder.file("damaged \(round)").path
      try Data(bytes).write(to: URL(fileURLWithPath: file))
      for command in ["verify", "export"] {
        let ending = try run([command, file])
        if ending.isExit {
          if ending.status != 0 { refused += 1 }
        } else {
          Issue.record("round \(round): \(command) ended by signal \(ending.status): \(ending.errors.prefix(4_000))")
        }
      }
      for name in ["", "-lock", ".coord", ".bell"] { try? FileManager.default.removeItem(atPath: file + name) }
    }
    #expect(refused > 0)
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let pages = bytes.count / 4_096
    let page = random.below(pages) * 4_096
    switch random.below(8) {
    case 0: for i in page..<page + 4_096 { bytes[i] = 0 }
    case 1:
      let other = random.below(pages) * 4_096
      for i in 0..<4_096 { bytes.swapAt(page + i, other + i) }
    case 2: bytes.removeLast(random.below(bytes.count))
    default:
      for _ in 0...random.below(6) {
        let place = random.oneIn(3) ? page + random.below(64) : random.below(bytes.count - 8)
        var part = Array(bytes[place..<place + 8])
        random.damage(&part)
        bytes.replaceSubrange(place..<place + 8, with: (part + [UInt8](repeating: 0, count: 8)).prefix(8))
      }
    }
  }
}
