/// A rule of the seam that a backend broke.
public struct ConformanceFailure: Error, CustomStringConvertible, Sendable {
  public let message: String
  public let file: String
  public let line: Int
  public var description: String { "\(message) (\(file):\(line))" }

  public init(_ message: String, file: String = #fileID, line: Int = #line) {
    self.message = message
    self.file = file
    self.line = line
  }
}
