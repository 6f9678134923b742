#if Sync
import Foundation

// Devices that come to a store of theirs, and die at what they do there first.

extension Fleet {
  /// A device with a folder for its file.
  private struct Newcomer {
    let name: String
    let engine: String
    let folder: URL
    /// As it says it to its program at each of its lives.
    var flags: [String] = []
  }

  private static let patience = Duration.seconds(60)

  /// Has a device come that kills itself at a point of a work which it does once, on its arrival, and starts it again over its file: it
  /// has to get on, with all that it has written. Whether it killed itself within a time.
  func newcomerDies(at point: String, of work: ReplicatorWork) async throws -> Bool {
    guests += 1
    let name = "newcomer\(guests)"
    var newcomer = Newcomer(
      name: name, engine: guests.isMultiple(of: 2) ? "lmdb" : "sqlite", folder: folder.appending(path: name, directoryHint: .isDirectory))
    try FileManager.default.createDirectory(at: newcomer.folder, withIntermediateDirectories: true)
    var written = try await prepare(&newcomer, for: work)
    let mortal = try live(newcomer, ["--die-at", "\(point):1"], remembered: ["wrote"])
    let isDead = await killsItself(mortal)
    if let last = mortal.newest("wrote").flatMap({ Int($0.dropFirst(6)) }) { written = max(written, last) }
    let again = try live(newcomer)
    defer { again.killNow() }
    if let lines = try await picture(again, name) {
      let tally = Tallied(name, in: lines)
      for fault in tally.faults(atLeast: written) { report.violation(fault) }
      newcomers.append((name, tally.entries.count))
    }
    report.count("newcomers that died at a point", 1)
    return isDead
  }

  /// Looks whether one who comes last finds what all newcomers have written.
  func judgeNewcomers() async throws {
    let witness = Newcomer(name: "witness", engine: "lmdb", folder: folder.appending(path: "witness", directoryHint: .isDirectory))
    try FileManager.default.createDirectory(at: witness.folder, withIntermediateDirectories: true)
    let process = try live(witness)
    defer { process.killNow() }
    guard let lines = try await picture(process, witness.name) else { return }
    for (name, written) in newcomers {
      for fault in Tallied(name, in: lines).faults(atLeast: written) { report.violation("as the last one sees it, \(fault)") }
    }
    report.count("writes of newcomers", newcomers.reduce(0) { $0 + $1.written })
  }

  /// Brings a newcomer to where the work is what it does next. How many of its writes have returned by then.
  private func prepare(_ newcomer: inout Newcomer, for work: ReplicatorWork) async throws -> Int {
    switch work {
    case .adopt:
      // Its file had no server until now. An app that writes first would adopt itself.
      let count = Int.random(in: 3...30, using: &random)
      let alone = try live(newcomer, ["--alone", "\(count)"])
      guard await killsItself(alone) else { throw CheckFailed("\(newcomer.name) does not write alone.") }
      newcomer.flags = ["--adopts", "--waits"]
      return count
    // It writes while it takes what is there.
    case .take where (guests / 2).isMultiple(of: 2): return 0
    case .take, .beginAnew:
      // Its file is replaced by an old copy: the server knows more of the replica than it does itself, so it begins anew, and then takes
      // everything. It counts on from what it has written, so it waits for that.
      _ = try await write(newcomer)
      newcomer.flags = ["--waits"]
      let copy = newcomer.folder.appendingPathExtension("copy")
      try FileManager.default.copyItem(at: newcomer.folder, to: copy)
      let count = try await write(newcomer)
      try FileManager.default.removeItem(at: newcomer.folder)
      try FileManager.default.moveItem(at: copy, to: newcomer.folder)
      return count
    case .collect, .integrate, .settle: return 0
    }
  }

  private func live(_ newcomer: Newcomer, _ more: [String] = [], remembered: Set<String> = []) throws -> ChildProcess {
    try ChildProcess(
      [
        "device", "--url", "ws://127.0.0.1:\(servers[guests % servers.count].place.port)", "--name", newcomer.name, "--path",
        "/shared/\(options.name)-newcomers", "--file", newcomer.folder.appending(path: "file").path, "--engine", newcomer.engine, "--seed",
        "\(random.next() as UInt64)",
      ] + newcomer.flags + more, remembered: remembered)
  }

  /// Has a newcomer write and send for a while, and kills it. How much it has written in all.
  private func write(_ newcomer: Newcomer) async throws -> Int {
    let process = try live(newcomer)
    defer { process.killNow() }
    guard let lines = try await picture(process, newcomer.name) else { throw CheckFailed("\(newcomer.name) does not get on.") }
    return Tallied(newcomer.name, in: lines).entries.count
  }

  /// What a newcomer shows once it has written something, and has sent and taken everything; nil, and a violation, if that does not come.
  private func picture(_ process: ChildProcess, _ name: String) async throws -> [String]? {
    guard await answer(process, "wrote ", Fleet.patience) != nil else {
      report.violation("\(name) did not come to writing")
      return nil
    }
    process.order("finish")
    guard await answer(process, "finished", Fleet.patience) != nil else {
      report.violation("\(name) could not send everything")
      return nil
    }
    process.order("show")
    guard let line = await answer(process, "picture ", Fleet.patience) else {
      report.violation("\(name) did not come to rest")
      return nil
    }
    return try Fleet.lines(ofPicture: line)
  }
}
#endif
