import Foundation
import StorageInterface

/// Puts the cases of files to one backend.
///
/// ```swift
/// let report = try ConformanceRun(.memory).report(on: "eval.json")
/// ```
public final class ConformanceRun {
  let backend: ConformanceBackend
  private let folder: URL
  private var opened = 0

  /// Stores are made in a folder under the system's temporary one, which goes with the run.
  public init(_ backend: ConformanceBackend) throws {
    self.backend = backend
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs every case of a file. Throws `CaseFileError` for a file that cannot be read or has another form; what
  /// cases do is in the report.
  public func report(on path: String) throws -> FileReport {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw CaseFileError("The file '\(path)' cannot be read.")
    }
    let document: JSONValue
    do throws(CaseFileError) { document = try JSONReader.read(Array(data)) } catch {
      throw CaseFileError("'\(path)' is no JSON: \(error)")
    }
    var report = FileReport(path: path)
    switch document {
    case .array(let entries) where entries.allSatisfy({ $0["query"] != nil && $0["valid"] != nil }):
      for entry in entries { report.add(entry["query"]?.string ?? "", SyntaxCase.result(entry)) }
    case .array(let suites) where suites.allSatisfy({ $0["schema"] != nil && $0["cases"] != nil }):
      for suite in suites { try run(suite, text: "query", into: &report) }
    case .object where document["suites"] != nil: try runPredicates(document, into: &report)
    case .object where ["merge", "calculate", "finalize", "incremental"].contains(where: { document[$0] != nil }):
      ChangeSetCases.run(document, into: &report)
    case .object where document["scenarios"] != nil:
      // They take several stores, turns and observers: no case for a backend alone.
      report.note = """
        \(document["scenarios"]?.array?.count ?? 0) scenarios of notifications, each a test with its name in \
        Tests/VivariumTests/Scenarios and Tests/ResultsControlTests: run 'swift test --filter Scenarios'
        """
    default:
      throw CaseFileError(
        "'\(path)' has none of the known forms: evaluations, syntax, predicates, change sets, scenarios.")
    }
    return report
  }

  func store(_ schema: CaseSchema, _ objects: JSONValue) throws -> CaseStore {
    opened += 1
    return try CaseStore(try backend.open(in: folder, number: opened), schema, objects)
  }

  /// One store and the questions put to it.
  func run(_ suite: JSONValue, text: String, into report: inout FileReport) throws {
    let name = suite["name"]?.string ?? "?"
    let cases = suite["cases"]?.array ?? []
    func title(_ item: JSONValue) -> String {
      var title = "\(name): \(item[text]?.string ?? "?")"
      if let args = item["args"]?.array, !args.isEmpty { title += " with \(item["args"] ?? .null)" }
      return title
    }
    do {
      let schema = try CaseSchema(suite["schema"] ?? .null, meta: suite["meta"])
      let store = try store(schema, suite["objects"] ?? .null)
      defer { store.engine.close() }
      let reading = try store.engine.beginRead()
      defer { reading.end() }
      for item in cases { report.add(title(item), EvaluationCase(item, text: text, store: store).result(reading)) }
    } catch {
      for item in cases { report.add(title(item), .unreadable(error)) }
    }
  }
}
