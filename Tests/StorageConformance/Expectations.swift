import StorageInterface
import StoreValues

/// Fails the rule unless the condition holds.
func expect(
  _ condition: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String, file: String = #fileID,
  line: Int = #line
) throws {
  if try !condition() { throw ConformanceFailure(message(), file: file, line: line) }
}

/// Fails the rule unless the two are equal.
func expectEqual<T: Equatable>(
  _ actual: @autoclosure () throws -> T, _ expected: T, _ what: @autoclosure () -> String = "", file: String = #fileID,
  line: Int = #line
) throws {
  let actual = try actual()
  if actual == expected { return }
  let shown = "\(actual)".prefix(600)
  throw ConformanceFailure(
    "\(what())\(what().isEmpty ? "" : ": ")got \(shown), expected \("\(expected)".prefix(600))", file: file, line: line)
}

/// Fails the rule unless the call throws the code, in the scope where one is given. Returns the error.
@discardableResult
func expectError<T>(
  _ code: StorageError.Code, _ scope: StorageError.Scope? = nil, _ what: String = "", file: String = #fileID,
  line: Int = #line, _ body: () throws -> T
) throws -> StorageError {
  do { _ = try body() } catch let error as StorageError {
    try expect(error.code == code, "\(what) threw \(error), expected \(code.rawValue)", file: file, line: line)
    if let scope {
      try expect(error.scope == scope, "\(what) threw scope \(error.scope), expected \(scope)", file: file, line: line)
    }
    return error
  }
  throw ConformanceFailure("\(what) threw nothing, expected \(code.rawValue)", file: file, line: line)
}

/// The value, or a failed rule.
func unwrap<T>(_ value: T?, _ what: String, file: String = #fileID, line: Int = #line) throws -> T {
  guard let value else { throw ConformanceFailure("there is no \(what)", file: file, line: line) }
  return value
}
