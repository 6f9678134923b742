import Foundation

/// A running `watch-child`: lines go in and come out.
final class WatchingChild {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())
  private var rest = Data()

  init(_ kind: String, _ path: String, _ task: String...) throws {
    process.executableURL = WatchingChild.executable
    process.arguments = [kind, path] + task
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Beside the tests' own program: the build puts both there.
  private static var executable: URL {
    let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("watch-child")
    if let beside, FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
    let tests = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    return tests.appendingPathComponent("watch-child")
  }

  func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }

  /// Waits for the child's next line; nil when it has ended.
  func line() -> String? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        rest = Data(rest[(end + 1)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest.append(more)
    }
  }

  /// Kills the child without warning, and waits until it is gone.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Lets the child end by itself; whether it did so without a fault.
  func end() -> Bool {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationReason == .exit && process.terminationStatus == 0
  }

  deinit {
    if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
  }
}

/// One call of the child's observer, as it wrote it down.
struct ChildCall {
  let deletions: [Int]
  let insertions: [Int]
  let modifications: [Int]
  let new: [Int]
  let numbers: [Int]

  init?(_ line: String?) {
    guard let parts = line?.split(separator: "|", omittingEmptySubsequences: false), parts.count == 5 else { return nil }
    let lists = parts.map { $0.split(separator: ",").compactMap { Int($0) } }
    (deletions, insertions, modifications, new, numbers) = (lists[0], lists[1], lists[2], lists[3], lists[4])
  }

  /// Whether the change set leads from these numbers to its own.
  func follows(_ before: [Int]) -> Bool {
    var replayed = before
    for position in deletions.reversed() { replayed.remove(at: position) }
    for position in insertions { replayed.insert(numbers[position], at: position) }
    return replayed == numbers && modifications.map { before[$0] } == new.map { numbers[$0] }
  }
}
