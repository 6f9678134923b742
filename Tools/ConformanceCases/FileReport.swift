/// What came of the cases of one file.
public struct FileReport: Sendable {
  public var path: String
  /// Where the cases of the file are run, when that is not here.
  public var note: String?
  public var passed = 0
  /// In the order of the file.
  public var failures: [Failure] = []
  /// Change sets of an inner state of the recording engine that no edits of a collection make, each with the reason.
  public var inexpressible: [(name: String, reason: String)] = []

  public struct Failure: Sendable {
    /// Where the case stands and what it asks.
    public var name: String
    public var expectation: String
    /// What came instead, or why the case cannot be put to the store.
    public var outcome: String
  }

  mutating func add(_ name: @autoclosure () -> String, _ result: CaseResult) {
    switch result {
    case .passed: passed += 1
    case .failed(let expectation, let outcome):
      failures.append(Failure(name: name(), expectation: expectation, outcome: outcome))
    case .inexpressible(let reason):
      inexpressible.append((name(), reason))
    }
  }
}

/// What came of one case.
enum CaseResult {
  case passed
  case failed(expected: String, got: String)
  /// What the case begins with is no state of this store: there is nothing to be right or wrong about.
  case inexpressible(String)

  /// The case, or its suite, could not be put to the store.
  static func unreadable(_ error: any Error) -> CaseResult {
    .failed(expected: "a way to express it", got: "cannot be expressed: \(error)")
  }

  static func check(_ holds: Bool, expected: @autoclosure () -> String, got: @autoclosure () -> String) -> CaseResult {
    holds ? .passed : .failed(expected: expected(), got: got())
  }
}

/// Why a case, or a whole suite, cannot be put to this store.
struct Inexpressible: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
