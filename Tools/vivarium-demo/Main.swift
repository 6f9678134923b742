import ArgumentParser
import Foundation
import StoreInspection
import Vivarium

@main enum Main {
  static func main() async {
    do {
      var command = try DemoCommand.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as DemoError {
      end(error.description, 1)
    } catch let error as InspectionError {
      end(error.message, error.status.rawValue)
    } catch let error as StoreError {
      end("\(error.message) \(error.remedy ?? "")", 1)
    } catch {
      if DemoCommand.exitCode(for: error) == .success { DemoCommand.exit(withError: error) }  // --help
      let lines = DemoCommand.message(for: error).split(separator: "\n")
      end("\(lines.first ?? "Something went wrong.")", DemoCommand.exitCode(for: error) == .validationFailure ? 2 : 1)
    }
  }

  private static func end(_ message: String, _ status: Int32) -> Never {
    FileHandle.standardError.write(Data("demo: \(message)\n".utf8))
    exit(status)
  }
}

extension Demo {
  /// This program's file.
  static func executable() throws -> URL {
    if let url = Bundle.main.executableURL { return url }
    throw DemoError("The file of this program cannot be found.")
  }
}
