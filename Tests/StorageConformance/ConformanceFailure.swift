/// A rule of the storage interface that a backend broke.
public struct ConformanceFailure: Error, CustomStringConvertible, Sendable {
  /// The rule, and what came instead.
  public let message: String
  /// Where in the suite the rule stands.
  public let file: String
  /// The line in that file.
  public let line: Int
  public var description: String { "\(message) (\(file):\(line))" }

  /// A broken rule, found where this is called.
  public init(_ message: String, file: String = #fileID, line: Int = #line) {
    self.message = message
    self.file = file
    self.line = line
  }
}
