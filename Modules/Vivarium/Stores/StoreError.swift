import Foundation
import StoreValues

/// An error of a store.
///
/// ```swift
/// do { try store.write { try store.add(message) } } catch StoreError.Code.primaryKeyExists { … }
/// ```
public struct StoreError: Error, Sendable {
  /// The kind of error. Stable, but open: a switch over codes needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Lets `catch StoreError.Code.primaryKeyExists` be written.
    public static func ~= (code: Code, error: any Error) -> Bool { (error as? StoreError)?.code == code }
  }

  /// The kind of error, for code.
  public var code: Code
  /// One sentence: what happened, with the relevant names. Given longer than 8,000 bytes, it lacks its middle; `details` are whole.
  public var message: String
  /// One sentence: what helps; nil if nothing does.
  public var remedy: String?
  /// The names and values in the message, for code: "type", "property", "key", …
  public var details: [String: String]
  /// The error below, if there was one.
  public var underlying: (any Error)?

  /// Creates an error, for code that throws as a store does, and for tests.
  public init(
    _ code: Code, _ message: String, remedy: String? = nil, details: [String: String] = [:],
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = ErrorText.bounded(message)
    self.remedy = remedy.map(ErrorText.bounded)
    self.details = details
    self.underlying = underlying
  }
}

extension StoreError: CustomStringConvertible {
  public var description: String { "\(code.rawValue): \(message)\(remedy.map { " " + $0 } ?? "")" }
}

extension StoreError: LocalizedError {
  public var errorDescription: String? { message }
  public var recoverySuggestion: String? { remedy }
}

extension StoreError.Code {
  // Opening.
  /// The file does not exist and was not to be created.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  /// The system denies this process reading, or writing, the file or its folder.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The file is not a store of this engine.
  public static let foreignFile = Self(rawValue: "foreignFile")
  /// The file is a store but damaged.
  public static let corrupt = Self(rawValue: "corrupt")
  /// A newer build than this one wrote the file.
  public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")
  /// The file is open elsewhere in a way that excludes opening it here.
  public static let alreadyOpen = Self(rawValue: "alreadyOpen")
  /// The file has several names (hard links, or a mount of the file alone); a process that opens it by another name would not see
  /// this one's locks.
  public static let hardLinked = Self(rawValue: "hardLinked")
  /// A new file was to be created where one exists.
  public static let fileExists = Self(rawValue: "fileExists")
  /// The file is encrypted with another key than the given one.
  public static let wrongKey = Self(rawValue: "wrongKey")
  /// The file is encrypted, and no key was given.
  public static let missingKey = Self(rawValue: "missingKey")
  /// A key was given, and the file is not encrypted.
  public static let notEncrypted = Self(rawValue: "notEncrypted")
  /// The store's engine, or this build of it, does not support the operation.
  public static let unsupported = Self(rawValue: "unsupported")
  /// The address range that the file needs is not available, or is larger than the store was opened for.
  public static let addressSpace = Self(rawValue: "addressSpace")
  /// The models do not fit each other or the file; the detail "faults" lists every reason.
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
  /// A newer program has migrated the file; the details "fileVersion" and "programVersion" have the versions.
  public static let newerSchema = Self(rawValue: "newerSchema")
  /// A migration block threw; the error is in `underlying`.
  public static let migrationFailed = Self(rawValue: "migrationFailed")
  // Running.
  /// The disk or the file system failed.
  public static let io = Self(rawValue: "io")
  /// The write is committed and visible, but the disk did not confirm it: a power cut may lose it. Do not repeat it.
  public static let unsynced = Self(rawValue: "unsynced")
  /// There is not enough disk space for the write.
  public static let outOfDiskSpace = Self(rawValue: "outOfDiskSpace")
  /// A write to a store opened for reading only.
  public static let readOnly = Self(rawValue: "readOnly")
  /// Another writer did not finish within the time this one may wait.
  public static let writeTimeout = Self(rawValue: "writeTimeout")
  /// More readers than the file has slots for; end some, or raise the limit if the engine has one.
  public static let tooManyReaders = Self(rawValue: "tooManyReaders")
  /// Readers hold more versions than `VersionPolicy.maximumCount` allows.
  public static let tooManyVersions = Self(rawValue: "tooManyVersions")
  /// A file of the store was replaced, renamed or removed while it was open. Nothing was committed, because the commit would be
  /// lost.
  public static let replaced = Self(rawValue: "replaced")
  /// The process was forked after it opened the store; the child must open it again.
  public static let forked = Self(rawValue: "forked")
  /// The engine discarded a version that is being read.
  public static let snapshotExpired = Self(rawValue: "snapshotExpired")
  /// The file is replicated, and this store is no replica of it, or it cannot become one: others would miss its writes.
  public static let syncRequired = Self(rawValue: "syncRequired")
  /// SQLite failed for a reason without a code of its own; the error in `underlying` has SQLite's number.
  public static let sqlite = Self(rawValue: "sqlite.error")
  /// A call that the engine does not allow: a fault of Vivarium or of the engine, not of the program.
  public static let misuse = Self(rawValue: "misuse")
  /// The store was closed.
  public static let closed = Self(rawValue: "closed")
  /// The commits after a cursor are not in the file's history: they were trimmed, or the file was restored from an older copy.
  public static let historyTrimmed = Self(rawValue: "historyTrimmed")
  /// No increment can be written, because the history does not tell all that changed since the version. Make a full copy.
  public static let needsFullCopy = Self(rawValue: "needsFullCopy")
  /// An increment does not follow the copy or the increment before it: it is of another store, or of other versions.
  public static let wrongIncrement = Self(rawValue: "wrongIncrement")
  // Transactions and contexts.
  /// A write inside another one of this store or thread (writes do not nest), or an operation that is not possible inside a write.
  public static let alreadyInWrite = Self(rawValue: "alreadyInWrite")
  /// A change outside a write.
  public static let notInWrite = Self(rawValue: "notInWrite")
  /// A write inside an operation declared as read-only.
  public static let readOnlyOperation = Self(rawValue: "readOnlyOperation")
  /// A call from another context than the store's; the details "expected" and "actual" name them.
  public static let wrongContext = Self(rawValue: "wrongContext")
  /// An object of one store was passed to another.
  public static let wrongStore = Self(rawValue: "wrongStore")
  /// The task, write, opening or operation was cancelled before it completed; its changes are undone.
  public static let cancelled = Self(rawValue: "cancelled")
  // Objects.
  /// An object with this primary key already exists.
  public static let primaryKeyExists = Self(rawValue: "primaryKeyExists")
  /// An attempt to change the primary key of a managed object.
  public static let primaryKeyIsFixed = Self(rawValue: "primaryKeyIsFixed")
  /// A unique index already has the value.
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// An unmanaged object where a managed one is required.
  public static let notManaged = Self(rawValue: "notManaged")
  /// An attempt to add an object of an embedded type by itself.
  public static let embeddedAlone = Self(rawValue: "embeddedAlone")
  /// An attempt to give an embedded object a second owner.
  public static let alreadyOwned = Self(rawValue: "alreadyOwned")
  /// A delete rule forbids the delete.
  public static let deleteDenied = Self(rawValue: "deleteDenied")
  /// The object is no longer in the store.
  public static let objectDeleted = Self(rawValue: "objectDeleted")
  /// A required property was never set.
  public static let missingValue = Self(rawValue: "missingValue")
  /// A value of another type than the property's.
  public static let typeMismatch = Self(rawValue: "typeMismatch")
  /// A value, or an object, larger than a store accepts.
  public static let tooLarge = Self(rawValue: "tooLarge")
  /// A position outside a collection.
  public static let indexOutOfRange = Self(rawValue: "indexOutOfRange")
  /// A type that is not among the store's models.
  public static let unknownType = Self(rawValue: "unknownType")
  /// A name that is not a property of the type, or a property of the wrong kind.
  public static let unknownProperty = Self(rawValue: "unknownProperty")
  // Queries.
  /// The condition, order or aggregate is invalid.
  public static let invalidQuery = Self(rawValue: "invalidQuery")
  /// A sum of integers exceeds Int64.
  public static let overflow = Self(rawValue: "overflow")
}
