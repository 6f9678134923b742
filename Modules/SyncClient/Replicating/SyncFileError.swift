import StorageInterface
import Vivarium

/// Why a replicated file cannot be read or written at the moment.
public struct SyncFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error, as a store throws it: `.outOfDiskSpace`, `.io`, `.permissionDenied` …
  public let code: StoreError.Code
  /// One sentence: what happened.
  public let message: String
  /// One sentence: what helps.
  public let remedy: String

  init(_ error: any Error) {
    switch error {
    case let error as StoreError: self.init(error.code, error.message, error.remedy)
    case let error as StorageError: self.init(StoreError.Code(rawValue: error.code.rawValue), error.message, error.remedy)
    default: self.init(.io, "\(error)", nil)
    }
  }

  private init(_ code: StoreError.Code, _ message: String, _ remedy: String?) {
    (self.code, self.message) = (code, message)
    let isSaid = remedy?.isEmpty == false
    self.remedy = isSaid ? remedy ?? "" : "See that the file is there, and that this program may write it."
  }

  public var description: String { "\(message) \(remedy)" }
}
