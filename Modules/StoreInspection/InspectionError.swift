import StorageInterface

/// The result of a command, as the exit status of a process.
public enum CommandStatus: Int32, Sendable, Hashable, CaseIterable {
  case success = 0
  /// The requested type or object is not in the store.
  case notFound = 1
  /// The arguments are invalid, in themselves or for this store.
  case usage = 2
  /// No store that this build can read: missing, not permitted, of another kind, damaged, or newer.
  case cannotOpen = 3
  /// Reading the store or writing the output failed.
  case inputOutput = 4
  /// The store was read, and is inconsistent.
  case damaged = 5
  /// A dry run found that the real operation would fail.
  case refused = 6
}

/// The reason why a command could not do its work.
public struct InspectionError: Error, Sendable, Hashable {
  public var status: CommandStatus
  /// One line, for people. Empty if there is nothing to report.
  public var message: String

  /// Ends a command. Escapes what a terminal would interpret in the message, since names come from files and from what was typed.
  public init(_ status: CommandStatus, _ message: String) {
    self.status = status
    self.message = DisplayText.escaped(message)
  }

  /// The reader of the output closed it, as `head` does. There is nobody to report to, and this is no fault.
  public static let outputClosed = InspectionError(.success, "")

  /// Ends a command that looks for something. What it found is its result, also for a script whose output nobody reads to the end; any
  /// other error of the output comes first.
  public static func end(found: InspectionError?, output: InspectionError?) throws(InspectionError) {
    if let output, output != .outputClosed { throw output }
    if let end = found ?? output { throw end }
  }
}

extension InspectionError {
  /// A storage error as the end of a command. The message becomes one line.
  public init(_ error: StorageError) {
    let text = error.remedy.isEmpty ? error.message : "\(error.message) \(error.remedy)"
    self.init(CommandStatus(error.code), text)
  }
}

extension CommandStatus {
  init(_ code: StorageError.Code) {
    switch code {
    case .fileNotFound, .permissionDenied, .foreignFile, .corrupt, .unsupportedVersion, .alreadyOpen, .addressSpace,
      .wrongKey, .missingKey, .notEncrypted:
      self = .cannotOpen
    case .objectDeleted: self = .notFound
    case .fileExists, .unsupported, .needsFullCopy, .wrongIncrement: self = .usage
    default: self = .inputOutput
    }
  }
}

extension InspectionError: CustomStringConvertible {
  public var description: String { message }
}
