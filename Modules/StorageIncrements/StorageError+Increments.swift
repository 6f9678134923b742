import StorageInterface
import StoreValues

extension StorageError {
  /// `.needsFullCopy`, with the reason as a sentence.
  static func needsFullCopy(_ reason: String) -> StorageError {
    StorageError(
      .needsFullCopy, .statement, "What changed cannot be written as an increment: \(reason)",
      remedy: "Make a full copy, and write further increments since its version.")
  }

  /// `.wrongIncrement`, with what is wrong as it follows the path.
  static func wrongIncrement(_ path: String, _ reason: String, remedy: String) -> StorageError {
    StorageError(.wrongIncrement, .statement, "The increment '\(path)' \(reason).", remedy: remedy)
  }

  /// `.corrupt`, with what is wrong as it follows "is damaged".
  static func damagedIncrement(_ path: String, _ reason: String) -> StorageError {
    StorageError(
      .corrupt, .statement, "The increment '\(path)' is damaged: \(reason).",
      remedy: "Use another copy of the file, or restore without it and those after it.")
  }

  /// `.foreignFile`.
  static func notIncrement(_ path: String) -> StorageError {
    StorageError(.foreignFile, .statement, "'\(path)' is no increment.", remedy: "Check the path.")
  }

  /// What an engine or a decoder said of an increment's contents, as an error of the increment: such contents were not written by this
  /// library for this store. Errors of the disk, and those that say so already, are as they were.
  func ofIncrement(_ path: String) -> StorageError {
    switch code {
    case .corrupt where message.contains(path): return self
    case .corrupt, .uniqueViolation, .objectDeleted, .typeMismatch, .indexOutOfRange, .misuse, .tooLarge, .unsupportedVersion:
      return .damagedIncrement(path, "its contents do not fit the store (\(message))")
    default: return self
    }
  }
}
