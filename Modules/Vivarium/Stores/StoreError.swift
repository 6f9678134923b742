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

  /// What happened, for code.
  public var code: Code
  /// One sentence: what happened, with the names that matter.
  public var message: String
  /// One sentence: what helps; nil when nothing does.
  public var remedy: String?
  /// The names and values in the message, for code: "type", "property", "key", …
  public var details: [String: String]
  /// The error below, if there was one.
  public var underlying: (any Error)?

  /// For code that throws as a store does, and for tests.
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
  public var description: String { "\(code.rawValue): \(message)\(remedy.map { " " + $0 } ?? "")" }
}

extension StoreError: LocalizedError {
  public var errorDescription: String? { message }
  public var recoverySuggestion: String? { remedy }
}

extension StoreError.Code {
  // Opening.
  /// There is no file, and it was not to be made.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  /// The system does not let this process read, or write, the file or its folder.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The file is no store of this engine.
  public static let foreignFile = Self(rawValue: "foreignFile")
  /// The file is a store's and damaged.
  public static let corrupt = Self(rawValue: "corrupt")
  /// Written by a newer build than this one.
  public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")
  /// Open elsewhere in a way that excludes this open.
  public static let alreadyOpen = Self(rawValue: "alreadyOpen")
  /// The file has several names, and who opens it by another would not see this one's locks.
  public static let hardLinked = Self(rawValue: "hardLinked")
  /// There is a file where a new one was to be.
  public static let fileExists = Self(rawValue: "fileExists")
  /// The file is encrypted with another key than the one that was given.
  public static let wrongKey = Self(rawValue: "wrongKey")
  /// The file is encrypted, and no key was given.
  public static let missingKey = Self(rawValue: "missingKey")
  /// A key was given, and the file is not encrypted.
  public static let notEncrypted = Self(rawValue: "notEncrypted")
  /// The store's engine, or this build of it, cannot do what was asked for.
  public static let unsupported = Self(rawValue: "unsupported")
  /// The range of addresses that the file would need is not to be had, or larger than the store was opened for.
  public static let addressSpace = Self(rawValue: "addressSpace")
  /// The models do not go with each other or with the file; the detail "faults" lists every reason.
  public static let schemaMismatch = Self(rawValue: "schemaMismatch")
  /// A newer program has migrated the file; the details "fileVersion" and "programVersion" say to which version.
  public static let newerSchema = Self(rawValue: "newerSchema")
  /// A migration block threw; the error is in `underlying`.
  public static let migrationFailed = Self(rawValue: "migrationFailed")
  // Running.
  /// The disk or the file system failed.
  public static let io = Self(rawValue: "io")
  /// The write is visible and counts, but the disk did not confirm it: a power cut may take it. Not to be repeated.
  public static let unsynced = Self(rawValue: "unsynced")
  /// There is no room for what was to be written.
  public static let outOfDiskSpace = Self(rawValue: "outOfDiskSpace")
  /// A write to a store that was opened to be read.
  public static let readOnly = Self(rawValue: "readOnly")
  /// Another writer did not end within the time that this one was to wait.
  public static let writeTimeout = Self(rawValue: "writeTimeout")
  /// More readers than the file has places for; end some, or raise the limit where the engine has one.
  public static let tooManyReaders = Self(rawValue: "tooManyReaders")
  /// Readers hold more versions than `VersionPolicy.maximumCount` allows.
  public static let tooManyVersions = Self(rawValue: "tooManyVersions")
  /// A file of the store was replaced, renamed or removed while it was open. Nothing was committed: nobody would find it.
  public static let replaced = Self(rawValue: "replaced")
  /// The process was forked after it opened the store; a child opens it anew.
  public static let forked = Self(rawValue: "forked")
  /// A version that is read was taken away by its engine.
  public static let snapshotExpired = Self(rawValue: "snapshotExpired")
  /// The store was closed.
  public static let closed = Self(rawValue: "closed")
  /// The commits after a cursor are not in the file's history: they are kept no more, or the file was restored from an older copy.
  public static let historyTrimmed = Self(rawValue: "historyTrimmed")
  // Transactions and contexts.
  /// A write inside another one of this store or thread, which do not nest, or what cannot be done inside a write.
  public static let alreadyInWrite = Self(rawValue: "alreadyInWrite")
  /// A change outside a write.
  public static let notInWrite = Self(rawValue: "notInWrite")
  /// A write inside an operation that said it would only read.
  public static let readOnlyOperation = Self(rawValue: "readOnlyOperation")
  /// A call from another context than the store's; the details "expected" and "actual" name them.
  public static let wrongContext = Self(rawValue: "wrongContext")
  /// An object of one store was given to another.
  public static let wrongStore = Self(rawValue: "wrongStore")
  /// The task, write, opening or operation was cancelled before it was done; what it had written is undone.
  public static let cancelled = Self(rawValue: "cancelled")
  // Objects.
  /// There is an object of that primary key already.
  public static let primaryKeyExists = Self(rawValue: "primaryKeyExists")
  /// The primary key of an object that is in a store was to be changed.
  public static let primaryKeyIsFixed = Self(rawValue: "primaryKeyIsFixed")
  /// A unique index has that value already.
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// An unmanaged object where one of a store is wanted.
  public static let notManaged = Self(rawValue: "notManaged")
  /// An object of an embedded type was to be added by itself.
  public static let embeddedAlone = Self(rawValue: "embeddedAlone")
  /// An embedded object was to get a second owner.
  public static let alreadyOwned = Self(rawValue: "alreadyOwned")
  /// A delete rule forbids it.
  public static let deleteDenied = Self(rawValue: "deleteDenied")
  /// The object is in the store no longer.
  public static let objectDeleted = Self(rawValue: "objectDeleted")
  /// A required property was never set.
  public static let missingValue = Self(rawValue: "missingValue")
  /// A value of another type than the property's.
  public static let typeMismatch = Self(rawValue: "typeMismatch")
  /// A value, or an object, that is larger than a store keeps.
  public static let tooLarge = Self(rawValue: "tooLarge")
  /// A position outside of a collection.
  public static let indexOutOfRange = Self(rawValue: "indexOutOfRange")
  /// A type that is not among the store's models.
  public static let unknownType = Self(rawValue: "unknownType")
  /// A name that is no property of the type, or of the wrong kind.
  public static let unknownProperty = Self(rawValue: "unknownProperty")
  // Queries.
  /// The condition, order or aggregate cannot be asked.
  public static let invalidQuery = Self(rawValue: "invalidQuery")
  /// A sum of integers left Int64.
  public static let overflow = Self(rawValue: "overflow")
}
