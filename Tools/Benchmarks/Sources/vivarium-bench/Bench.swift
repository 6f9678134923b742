import ArgumentParser
import Foundation

@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Runs the same workloads on Vivarium's engines and on others, side by side.",
    discussion: """
      One JSON line per engine and workload goes to standard output, a table of ratios to standard error. Each engine \
      runs in a process of its own. Build for release.
      """,
    subcommands: [Compare.self, Scale.self, RunOne.self, First.self, Listen.self], defaultSubcommand: Compare.self)
}

/// Runs each engine in a child process and compares.
struct Compare: ParsableCommand {
  @Option(help: "Engines, separated by commas: \(Engine.allCases.map(\.rawValue).joined(separator: ", ")).")
  var engines = Engine.allCases.map(\.rawValue).joined(separator: ",")
  @Option(help: "Workloads, separated by commas; all when left out. A prefix selects its variants: W9 is W9.sum, …")
  var workloads = ""
  @Option(help: "Number of objects.")
  var count = 1_000_000
  @Option(help: "A folder for the files; a temporary one, removed at the end, when left out.")
  var folder: String?
  @Flag(help: "A short run that shows that everything works; its figures mean nothing.")
  var smoke = false

  mutating func validate() throws {
    for name in engines.split(separator: ",") where Engine(rawValue: String(name)) == nil {
      throw ValidationError("There is no engine '\(name)'. Engines: \(Engine.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    for name in workloads.split(separator: ",")
    where !Course.workloads.contains(where: { $0 == name || $0.hasPrefix(name + ".") }) {
      throw ValidationError("There is no workload '\(name)'. Workloads: \(Course.workloads.joined(separator: ", ")).")
    }
    if count < 1 || count > 100_000_000 { throw ValidationError("--count must lie between 1 and 100,000,000.") }
  }

  func run() throws {
    let root = folder ?? NSTemporaryDirectory() + "vivarium-bench-\(getpid())"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { if folder == nil { try? FileManager.default.removeItem(atPath: root) } }
    var results: [Measurement] = []
    for engine in engines.split(separator: ",").compactMap({ Engine(rawValue: String($0)) }) {
      let folder = root + "/" + engine.rawValue
      try? FileManager.default.removeItem(atPath: folder)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      results += try run(engine, path: folder + "/bench")
      try? FileManager.default.removeItem(atPath: folder)
    }
    FileHandle.standardError.write(Data(RatioTable(results).text.utf8))
  }

  private func run(_ engine: Engine, path: String) throws -> [Measurement] {
    let child = Process()
    let output = Pipe()
    child.executableURL = Bundle.main.executableURL
    child.arguments = [
      "run", "--engine", engine.rawValue, "--path", path, "--workloads", workloads, "--count",
      String(smoke ? 2_000 : count),
    ]
    child.standardOutput = output
    try child.run()
    var results: [Measurement] = []
    var rest = Data()
    while case let chunk = output.fileHandleForReading.availableData, !chunk.isEmpty {
      FileHandle.standardOutput.write(chunk)
      rest += chunk
    }
    child.waitUntilExit()
    for line in rest.split(separator: UInt8(ascii: "\n")) {
      results.append(try JSONDecoder().decode(Measurement.self, from: line))
    }
    if child.terminationStatus != 0 { throw ExitCode(child.terminationStatus) }
    return results
  }
}

/// One engine in this process.
struct RunOne: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "run", shouldDisplay: false)
  @Option var engine: String
  @Option var path: String
  @Option var workloads = ""
  @Option var count = 1_000_000

  func run() throws {
    guard let engine = Engine(rawValue: engine) else { throw ValidationError("no engine '\(engine)'") }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    let course = Course(
      engine: engine, path: path, count: count, wanted: Set(workloads.split(separator: ",").map(String.init))
    ) { measurement in
      guard var line = try? encoder.encode(measurement) else { return }
      line.append(UInt8(ascii: "\n"))
      FileHandle.standardOutput.write(line)
    }
    try course.run()
  }
}

/// Observes W10's query and prints the time whenever a change set has come, until its input ends.
struct Listen: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "listen", shouldDisplay: false)
  @Option var engine: String
  @Option var path: String
  @Option var question = "sorted"

  func run() throws {
    guard let engine = Engine(rawValue: engine), let question = LiveObserver.Question(rawValue: question),
      let contestant = try engine.contestant(path: path, data: Dataset(count: 0)) as? VivariumContestant
    else { throw ValidationError("no engine '\(engine)', or no question '\(question)'") }
    let say: @Sendable (Double) -> Void = { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) }
    let observer = try LiveObserver(contestant.configuration, question, onChange: say)
    say(Clock.wall())
    _ = FileHandle.standardInput.readDataToEndOfFile()
    observer.stop()
  }
}

/// Opens a store, reads its first object and counts all, and prints how long each took from the start.
struct First: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "first", shouldDisplay: false)
  @Option var engine: String
  @Option var path: String

  func run() throws {
    guard let engine = Engine(rawValue: engine) else { throw ValidationError("no engine '\(engine)'") }
    let data = Dataset(count: 0)
    let start = Clock.wall()
    let contestant = try engine.contestant(path: path, data: data)
    let opened = Clock.wall() - start
    let first = try contestant.first()
    let seconds = Clock.wall() - start
    let count = try (contestant as? VivariumContestant)?.countAll()
    print(opened, first >= 0 ? seconds : -1, count == 0 ? -1 : Clock.wall() - start, separator: "\n")
  }
}
