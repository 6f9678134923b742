import StorageInterface
import StoreValues

extension StorageError {
  /// The error for bytes in the store that do not follow the format.
  static func corrupt(_ what: String) -> StorageError {
    StorageError(
      .corrupt, .engine, "The store is damaged: \(what).",
      remedy: "Restore it from a copy, or copy what can still be read into a new store.")
  }

  static func misuse(_ message: String) -> StorageError { StorageError(.misuse, .statement, message) }

  static func deleted(_ table: TableEntry, _ key: ObjectKey) -> StorageError {
    StorageError(.objectDeleted, .statement, "There is no object \(key) of type '\(table.name)' in this version.")
  }

  static let ended = StorageError(.closed, .transaction, "The transaction has ended.", remedy: "Begin another.")
}
