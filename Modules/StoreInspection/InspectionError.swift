import StorageInterface

/// How a command ended, as the exit status of a process.
public enum CommandStatus: Int32, Sendable, Hashable, CaseIterable {
  case success = 0
  /// The type or the object that was asked for is not in the store.
  case notFound = 1
  /// The arguments make no sense, by themselves or for this store.
  case usage = 2
  /// There is no store that this build can read: missing, not permitted, foreign, damaged, or newer.
  case cannotOpen = 3
  /// Reading the store or writing the output failed.
  case inputOutput = 4
  /// The store was read, and is not as it must be.
  case damaged = 5
  /// A dry run says that what it tried would fail.
  case refused = 6
}

/// Why a command could not do what it was asked.
public struct InspectionError: Error, Sendable, Hashable {
  public var status: CommandStatus
  /// One line, for people. Empty when there is nothing to say.
  public var message: String

  /// An end of a command. What a terminal would obey is escaped in the message: names come from files, and from what was typed.
  public init(_ status: CommandStatus, _ message: String) {
    self.status = status
    self.message = DisplayText.escaped(message)
  }

  /// The reader of the output went away, as `head` does. Nobody is left to be told, and nothing is wrong.
  public static let outputClosed = InspectionError(.success, "")
}

extension InspectionError {
  /// What storage reported, as the end of a command. The message is made one line.
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
    case .fileExists, .unsupported: self = .usage
    default: self = .inputOutput
    }
  }
}

extension InspectionError: CustomStringConvertible {
  public var description: String { message }
}
