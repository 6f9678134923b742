import ArgumentParser
import Foundation
import StoreInspection

@main enum Main {
  static func main() {
    // A closed pipe is then an error of `write`, which ends the command quietly.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try InspectCommand.parseAsRoot()
      try command.run()
    } catch let error as InspectionError {
      end(error)
    } catch {
      if InspectCommand.exitCode(for: error) == .success { InspectCommand.exit(withError: error) }  // --help
      var text = InspectCommand.message(for: error).split(separator: "\n").first.map(String.init) ?? "The arguments make no sense."
      if !text.hasSuffix(".") { text += "." }
      end(InspectionError(.usage, "\(text) See 'inspect --help'."))
    }
  }

  private static func end(_ error: InspectionError) -> Never {
    // Nobody is left to be told that this cannot be written.
    if !error.message.isEmpty { try? DescriptorOutput(STDERR_FILENO).say("inspect: \(error.message)") }
    exit(error.status.rawValue)
  }
}
