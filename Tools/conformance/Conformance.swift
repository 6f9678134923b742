import ConformanceCases
import Foundation

/// `conformance --backend lmdb|sqlite|memory FILE…`: puts the cases of files to a backend. Exits 0 when none fails, 1
/// when one does, 2 when it was called wrongly or a file cannot be read.
@main
enum Conformance {
  static let usage = """
    Usage: conformance --backend lmdb|sqlite|memory FILE...

    Puts the cases of JSON files (evaluations, syntax, predicates, change sets) to a backend and prints, for each
    file, how many passed and failed, then each failing case, and each change set that no edits make. Exits 0 when none
    fails, 1 when one does, 2 when a file cannot be read.
    """

  static func main() {
    var backend: ConformanceBackend?
    var files: [String] = []
    var rest = CommandLine.arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "-h", "--help":
        print(usage)
        exit(0)
      case "--backend":
        let name = rest.popFirst() ?? ""
        guard let known = ConformanceBackend(rawValue: name) else { stop("There is no backend '\(name)'.\n\(usage)") }
        backend = known
      case _ where argument.hasPrefix("--"): stop("There is no option '\(argument)'.\n\(usage)")
      default: files.append(argument)
      }
    }
    guard let backend, !files.isEmpty else { stop(usage) }
    exit(run(files, backend))
  }

  private static func run(_ files: [String], _ backend: ConformanceBackend) -> Int32 {
    var (hasFailures, hasErrors) = (false, false)
    for file in files {
      do {
        let report = try ConformanceRun(backend).report(on: file)
        print("\(file): " + (report.note ?? "\(report.passed) passed, \(report.failures.count) failed"))
        for failure in report.failures {
          print("  \(failure.name)\n    expected \(failure.expectation)\n    got      \(failure.outcome)")
        }
        for (name, reason) in report.inexpressible { print("  \(name)\n    cannot be expressed: \(reason)") }
        if !report.failures.isEmpty { hasFailures = true }
      } catch {
        complain("\(error)")
        hasErrors = true
      }
    }
    return hasErrors ? 2 : hasFailures ? 1 : 0
  }

  private static func stop(_ message: String) -> Never {
    complain(message)
    exit(2)
  }

  private static func complain(_ message: String) {
    FileHandle.standardError.write(Data("conformance: \(message)\n".utf8))
  }
}
