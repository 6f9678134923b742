import Foundation

/// Runs the workloads of one engine in one process, in the order that leaves the data right for the next.
struct Course {
  let engine: Engine
  let path: String
  let count: Int
  let wanted: Set<String>
  let report: (Measurement) -> Void

  static let workloads = [
    "W1", "W12", "copy", "W14", "W3", "W4a", "W4b", "W5a", "W5b", "W5c", "W6", "W6b", "W6b.limit", "W7", "W9.sum", "W9.max",
    "W9.avg", "W8", "W12.afterW8", "W2a", "W2b", "T.W3", "T.W4b", "T.W6", "T.W7", "T.W8", "W16", "W16.warm",
    "W17", "W17.related", "W19.alone", "W19.readers", "W19.commit.alone", "W19.commit", "W20.load", "W20.reads", "W20.live",
    "W21.n10000", "W21.n10000.heard", "W21", "W21.heard",
    "W22.open", "W22.first", "W22.count", "memory", "W10.k1", "W10.k1.view", "W10.k100", "W10.k100.view",
    "W10.k10000", "W10.k10000.view", "W10.cpu", "W10.unsorted", "W10.unsorted.view", "W10.small", "W10.small.view",
    "W18.two", "W18.two.view", "W18.two.k100", "W18.two.k100.view", "W18.text", "W18.text.view", "W18.text.k100", "W18.text.k100.view",
    "W10.one", "W10.five", "W10.token", "W10.tokens", "W10.observe", "W11.unobserved", "W11",
    "W15", "W15.small", "memory.live", "R.fetch", "R.k1", "R.k1.plain", "R.k1.own", "R.k10000", "R.path", "R.fetch.filter",
    "R.k1.filter", "I.bind", "W13",
  ]

  func wants(_ workload: String) -> Bool {
    wanted.isEmpty || wanted.contains(workload)
      || wanted.contains { workload.hasPrefix($0 + ".") }
  }

  func line(
    _ workload: String, _ seconds: Double, _ cpu: Double, check: String? = nil, bytes: Int? = nil, _ note: String
  ) {
    guard wants(workload) else { return }
    report(
      Measurement(
        engine: engine.rawValue, workload: workload, count: count, seconds: seconds, cpuSeconds: cpu, bytes: bytes,
        check: check, note: note))
  }

  /// The median of some runs of a workload that changes nothing, per item.
  func query<R>(
    _ workload: String, runs: Int, items: Int = 1, _ note: String, _ body: () throws -> R
  ) throws {
    guard wants(workload) else { return }
    let (wall, cpu, result) = try Clock.median(of: runs, body)
    line(workload, wall / Double(items), cpu / Double(items), check: "\(result)", note)
  }

  func run() throws {
    let data = Dataset(count: count)
    let contestant = try engine.contestant(path: path, data: data)
    let (wall, cpu, _) = try Clock.median(of: 1) { try contestant.load() }
    line("W1", wall, cpu, contestant.note)
    if contestant is VivariumContestant { line("W20.load", 0, 0, bytes: Resources.ownMemory(), "own memory after W1") }
    if engine.isOnDisk {
      line("W12", 0, 0, bytes: Resources.allocatedBytes(path), "allocated blocks of all files, after W1")
      if wants("copy"), let own = contestant as? VivariumContestant {
        try query("copy", runs: 1, "a copy of the file, on the disk") { try own.copy(to: path + ".copy") }
        try FileManager.default.removeItem(atPath: path + ".copy")
      }
      if wants("W14") || wants("W22") {
        try contestant.reopen()
        try openInFreshProcesses(isOwn: contestant is VivariumContestant)
      }
    }
    try reads(contestant, data)
    if contestant is VivariumContestant { line("W20.reads", 0, 0, bytes: Resources.ownMemory(), "own memory after the reads") }
    try writes(contestant, data)
    if let own = contestant as? VivariumContestant {
      try tracked(own, data)
      try afterCommits(own, data)
      try readersBesideAWriter(own)
      if wants("W20.live") { try liveMemory(own) }
      for (name, count) in [("W21.n10000", 10_000), ("W21", 100_000)] where wants(name) && count <= self.count {
        try appends(name, count, own)
      }
    }
    line("memory", 0, 0, bytes: Resources.peakMemory(), "peak resident memory of all these, data set included")
    if let live = contestant as? any LiveContestant {
      try self.live(live, data)
      line("memory.live", 0, 0, bytes: Resources.peakMemory(), "the same with the live queries of W10, W11 and W15")
    }
    if let companion = contestant as? VivariumContestant { try companions(companion) }
    try query("W13", runs: 1, "delete every done task, one durable transaction") { try contestant.deleteDone() }
    if contestant is VivariumContestant { try operations() }
  }

  private func reads(_ contestant: any Contestant, _ data: Dataset) throws {
    if wants("W3") {
      let ids = data.randomIDs(1_000_000, seed: 3)
      try query("W3", runs: 3, items: ids.count, "per look-up by primary key, reading priority") {
        try contestant.lookUps(ids)
      }
    }
    try query("W4a", runs: 5, "sum of one column, no objects") { try contestant.sumPriority() }
    try query("W4b", runs: 5, "every object: title, priority, done, due") { try contestant.readEverything() }
    try query("W5a", runs: 20, "count, two conditions, no index") { try contestant.countOpenUrgent() }
    try query("W5b", runs: 10, "count CONTAINS") { try contestant.countTitles(containing: "kilo lima") }
    try query("W5c", runs: 10, "count BEGINSWITH") { try contestant.countTitles(beginningWith: "Task 99") }
    try query("W6", runs: 50, "index, condition, sort, first 100 titles") {
      try contestant.firstTitles(ofProject: 417).count
    }
    try query("W6b", runs: 3, "sort of all by two keys, first 100 titles, no limit") {
      try contestant.firstTitlesByPriority(limited: false).first ?? ""
    }
    try query("W6b.limit", runs: 5, "the same with a limit of 100") {
      try contestant.firstTitlesByPriority(limited: true).first ?? ""
    }
    if wants("W7") {
      let projects = SplitMix.projects(1_000, seed: 7)
      try query("W7", runs: 5, items: projects.count, "per count over an index") {
        try projects.reduce(0) { try $0 + contestant.count(ofProject: $1) }
      }
    }
    try query("W9.sum", runs: 20, "sum of integers") { try contestant.sumPriority() }
    try query("W9.max", runs: 20, "maximum of doubles") { try contestant.maxDue() }
    try query("W9.avg", runs: 20, "average of doubles") { Int(try contestant.averageDue()) }
  }

  private func writes(_ contestant: any Contestant, _ data: Dataset) throws {
    if wants("W8") {
      let ids = data.distinctIDs(100_000, seed: 8)
      try query("W8", runs: 1, "priority of \(ids.count) random objects, one durable transaction") {
        try contestant.updatePriorities(ids)
        return ids.count
      }
      if engine.isOnDisk {
        line("W12.afterW8", 0, 0, bytes: Resources.allocatedBytes(path), "allocated blocks of all files, after W8")
      }
    }
    for (workload, offset, durable) in [("W2a", 0, true), ("W2b", 1_000, false)] where wants(workload) {
      try query(workload, runs: 1, "1,000 transactions of one insert, \(durable ? "durable" : "relaxed")") {
        for i in 0..<1_000 { try contestant.insertOne(count + offset + i, durable: durable) }
        return 1_000
      }
    }
  }

  private func openInFreshProcesses(isOwn: Bool) throws {
    var runs: [[Double]] = []
    for _ in 0..<11 {
      let child = Process()
      let output = Pipe()
      child.executableURL = Bundle.main.executableURL
      child.arguments = ["first", "--engine", engine.rawValue, "--path", path]
      child.standardOutput = output
      try child.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      child.waitUntilExit()
      let times = text.split(separator: "\n").compactMap { Double($0) }
      guard times.count == 3 else {
        throw SQLiteFailure(description: "the process that opens the store answered '\(text)'")
      }
      runs.append(times)
    }
    func median(_ time: Int) -> Double { runs.map { $0[time] }.sorted()[5] }
    line("W14", median(1), 0, "open until the first object is read, in a fresh process; median of 11")
    guard isOwn else { return }
    line("W22.open", median(0), 0, "open, in a fresh process; median of 11")
    line("W22.first", median(1), 0, "open and read the first object")
    line("W22.count", median(2), 0, "open, read the first object, and count all")
  }
}

extension SplitMix {
  static func projects(_ count: Int, seed: UInt64) -> [Int64] {
    var random = SplitMix(seed: seed)
    return (0..<count).map { _ in Int64(random.below(1_000)) }
  }
}
