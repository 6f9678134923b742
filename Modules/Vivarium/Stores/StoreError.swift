import Foundation

/// Everything a store refuses or fails at.
///
/// ```swift
/// do { try store.write { try store.add(message) } } catch StoreError.Code.primaryKeyExists { … }
/// ```
public struct StoreError: Error, Sendable {
  /// What happened. Stable, and open: code that switches over codes needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Lets `catch StoreError.Code.primaryKeyExists` be written.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
  }

  public var code: Code
  /// One sentence: what happened, with the names that matter.
  public var message: String
  /// One sentence: what helps; nil when nothing does.
  public var remedy: String?
  /// The names and values in the message, for code: "type", "property", "key", …
  public var details: [String: String]
  /// The error below, if there was one.
  public var underlying: (any Error)?

  public init(
    _ code: Code, _ message: String, remedy: String? = nil, details: [String: String] = [:],
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.details = details
    self.underlying = underlying
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)\(remedy.map { " " + $0 } ?? "")\(details["at"].map { " (at \($0))" } ?? "")" }
}

extension StoreError: LocalizedError {
  public var errorDescription: String? { message }
  public var recoverySuggestion: String? { remedy }
}

extension StoreError.Code {
  // Opening.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The file is no store of this engine.
  public static let foreignFile = Self(rawValue: "foreignFile")
  public static let corrupt = Self(rawValue: "corrupt")
  /// Written by a newer build than this one.
  public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")
  public static let alreadyOpen = Self(rawValue: "alreadyOpen")
  public static let addressSpace = Self(rawValue: "addressSpace")
  /// The models do not go with each other or with the file; the detail "faults" lists every reason.
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
  /// A newer program has migrated the file; the details "fileVersion" and "programVersion" say to which version.
  public static let newerSchema = Self(rawValue: "newerSchema")
  /// A migration block threw; the error is in `underlying`.
  public static let migrationFailed = Self(rawValue: "migrationFailed")
  // Running.
  public static let io = Self(rawValue: "io")
  /// The write is visible and counts, but the disk did not confirm it: a power cut may take it. Not to be repeated.
  public static let unsynced = Self(rawValue: "unsynced")
  public static let outOfDiskSpace = Self(rawValue: "outOfDiskSpace")
  public static let readOnly = Self(rawValue: "readOnly")
  public static let writeTimeout = Self(rawValue: "writeTimeout")
  public static let tooManyReaders = Self(rawValue: "tooManyReaders")
  /// Readers hold more versions than `VersionPolicy.maximumCount` allows.
  public static let tooManyVersions = Self(rawValue: "tooManyVersions")
  public static let closed = Self(rawValue: "closed")
  /// The commits after a cursor are not in the file's history: they are kept no more, or the file was restored from an older copy.
  public static let historyTrimmed = Self(rawValue: "historyTrimmed")
  // Transactions and contexts.
  public static let alreadyInWrite = Self(rawValue: "alreadyInWrite")
  public static let notInWrite = Self(rawValue: "notInWrite")
  /// A write inside an operation that said it would only read.
  public static let readOnlyOperation = Self(rawValue: "readOnlyOperation")
  public static let wrongContext = Self(rawValue: "wrongContext")
  /// An object of one store was given to another.
  public static let wrongStore = Self(rawValue: "wrongStore")
  public static let cancelled = Self(rawValue: "cancelled")
  // Objects.
  public static let primaryKeyExists = Self(rawValue: "primaryKeyExists")
  public static let primaryKeyIsFixed = Self(rawValue: "primaryKeyIsFixed")
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// An unmanaged object where one of a store is wanted.
  public static let notManaged = Self(rawValue: "notManaged")
  /// An object of an embedded type was to be added by itself.
  public static let embeddedAlone = Self(rawValue: "embeddedAlone")
  /// An embedded object was to get a second owner.
  public static let alreadyOwned = Self(rawValue: "alreadyOwned")
  /// A delete rule forbids it.
  public static let deleteDenied = Self(rawValue: "deleteDenied")
  public static let objectDeleted = Self(rawValue: "objectDeleted")
  public static let missingValue = Self(rawValue: "missingValue")
  public static let typeMismatch = Self(rawValue: "typeMismatch")
  public static let tooLarge = Self(rawValue: "tooLarge")
  public static let indexOutOfRange = Self(rawValue: "indexOutOfRange")
  /// A type that is not among the store's models.
  public static let unknownType = Self(rawValue: "unknownType")
  public static let unknownProperty = Self(rawValue: "unknownProperty")
  // Queries.
  /// The condition, order or aggregate cannot be asked.
  public static let invalidQuery = Self(rawValue: "invalidQuery")
  /// A sum of integers left Int64.
  public static let overflow = Self(rawValue: "overflow")
}
