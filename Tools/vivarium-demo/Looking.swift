import Foundation
import StorageInterface
import StoreInspection
import Vivarium

/// Looks into the store with `inspect`: the program where there is a file, its library where there is none.
@MainActor enum Looking {
  static func look(_ configuration: Store.Configuration, _ url: URL, type: String) throws {
    let program = try Demo.executable().deletingLastPathComponent().appending(path: "inspect")
    if configuration.backend.kind != "memory", FileManager.default.isExecutableFile(atPath: program.path) {
      try run(program, ["info", url.path])
      try run(program, ["count", url.path, type])
      try run(program, ["dump", url.path, type, "--limit", "3", "--format", "ndjson"])
    } else {
      Terminal.say("In this process, by the library that 'inspect' is made of:")
      let engine = try configuration.backend.open(OpenOptions(isReadOnly: true))
      let output = DescriptorOutput(STDOUT_FILENO)
      func inspector(_ format: OutputFormat) -> Inspector {
        Inspector(engine, location: configuration.backend.location, format: format, output: output)
      }
      Terminal.say("")
      try inspector(.table).info()
      Terminal.say("")
      try inspector(.ndjson).dump([type], limit: 3)
    }
  }

  private static func run(_ program: URL, _ arguments: [String]) throws {
    Terminal.say("\n$ inspect \(arguments.joined(separator: " "))")
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw DemoError("inspect ended with status \(process.terminationStatus).") }
  }
}
