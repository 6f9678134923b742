import StoreValues

/// An error caused by data, the disk, another process or a limit at the storage interface.
///
/// Engines throw no other error. Using a transaction after `end()`, or a column of another table, is a mistake of the code
/// above the storage interface and throws `.misuse`; it never aborts the process and never returns made-up data.
public struct StorageError: Error, Sendable {
  /// The kind of error. Open: an engine may add codes with its own prefix ("lmdb.…"), so a switch over codes needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// What is unusable after the error, and so what the caller may do next.
  public enum Scope: Sendable, Hashable {
    /// Only this call, which had no effect. The transaction continues: a duplicate key must not cost the batch.
    case statement
    /// The transaction. End it; the next one starts clean.
    case transaction
    /// The engine. Close it; opening again may help, as `remedy` says.
    case engine
  }

  /// The kind of error, for programs.
  public var code: Code
  /// What is unusable, and so what may be done next.
  public var scope: Scope
  /// One sentence: the error, with the names and numbers that matter. Given longer than 8,000 bytes, it lacks its middle.
  public var message: String
  /// One sentence: how to fix it. Empty if nothing helps.
  public var remedy: String
  /// The code of the failed library or system call below; 0 if there was none.
  public var underlyingCode: Int32
  /// For `.uniqueViolation`: the violated index, and the object that already has the value.
  public var index: IndexID?
  /// See `index`.
  public var conflictingKey: ObjectKey?

  /// Creates an error; for engines.
  public init(
    _ code: Code, _ scope: Scope, _ message: String, remedy: String = "", underlyingCode: Int32 = 0,
    index: IndexID? = nil, conflictingKey: ObjectKey? = nil
  ) {
    self.code = code
    self.scope = scope
    self.message = ErrorText.bounded(message)
    self.remedy = ErrorText.bounded(remedy)
    self.underlyingCode = underlyingCode
    self.index = index
    self.conflictingKey = conflictingKey
  }
}

extension StorageError.Code {
  // Opening.
  /// The file does not exist, and was not to be created.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  /// This process lacks permission to read, or write, the file or its directory.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The file exists and is not this engine's.
  public static let foreignFile = Self(rawValue: "foreignFile")
  /// The file is this engine's, but damaged.
  public static let corrupt = Self(rawValue: "corrupt")
  /// The file has a newer format than this build knows.
  public static let unsupportedVersion = Self(rawValue: "unsupportedVersion")
  /// Open elsewhere in a way that excludes this open.
  public static let alreadyOpen = Self(rawValue: "alreadyOpen")
  /// The file has several names (hard links, or a mount of the file alone), and opening it by another would bypass this one's
  /// locks.
  public static let hardLinked = Self(rawValue: "hardLinked")
  /// The file for a new store already exists.
  public static let fileExists = Self(rawValue: "fileExists")
  /// The file is encrypted with a different key.
  public static let wrongKey = Self(rawValue: "wrongKey")
  /// The file is encrypted, and no key was given.
  public static let missingKey = Self(rawValue: "missingKey")
  /// A key was given, and the file is not encrypted.
  public static let notEncrypted = Self(rawValue: "notEncrypted")
  /// The engine, or this build of it, does not support the request.
  public static let unsupported = Self(rawValue: "unsupported")
  /// The address space that the file needs is not available, or exceeds the size it was opened for.
  public static let addressSpace = Self(rawValue: "addressSpace")
  // Running.
  /// The disk or the file system failed.
  public static let io = Self(rawValue: "io")
  /// The commit is visible and counts, but the disk did not confirm it: a power cut may lose it. Do not repeat it.
  public static let unsynced = Self(rawValue: "unsynced")
  /// There is no space for the data to be written.
  public static let outOfDiskSpace = Self(rawValue: "outOfDiskSpace")
  /// A write to an engine that was opened read-only.
  public static let readOnly = Self(rawValue: "readOnly")
  /// Another writer did not end before the deadline.
  public static let writeTimeout = Self(rawValue: "writeTimeout")
  /// All the engine's places for snapshots are in use.
  public static let tooManyReaders = Self(rawValue: "tooManyReaders")
  /// The snapshot can no longer be read: another program wrote the file meanwhile.
  public static let snapshotExpired = Self(rawValue: "snapshotExpired")
  /// The requested commits are no longer in the file's history.
  public static let historyTrimmed = Self(rawValue: "historyTrimmed")
  /// The commit records do not tell all that changed since the version, so no increment can be written: a full copy is needed.
  public static let needsFullCopy = Self(rawValue: "needsFullCopy")
  /// The increment does not follow what comes before it: it is of another store, or of other versions.
  public static let wrongIncrement = Self(rawValue: "wrongIncrement")
  /// The process forked after opening; the child must open for itself.
  public static let forked = Self(rawValue: "forked")
  /// A file of the store was replaced, renamed or removed while it was open: nobody will find what is written to it.
  public static let replaced = Self(rawValue: "replaced")
  /// The caller stopped the operation before it was complete.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The engine was closed.
  public static let closed = Self(rawValue: "closed")
  // Statements.
  /// A unique index already has the value: see `index` and `conflictingKey`.
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// There is no object with that key.
  public static let objectDeleted = Self(rawValue: "objectDeleted")
  /// A value or row larger than the engine's limit.
  public static let tooLarge = Self(rawValue: "tooLarge")
  /// The value does not fit the column: another type, null where required, out of the integer's range.
  public static let typeMismatch = Self(rawValue: "typeMismatch")
  /// A position outside of a list.
  public static let indexOutOfRange = Self(rawValue: "indexOutOfRange")
  /// A call the protocol does not allow here; a bug above the storage interface.
  public static let misuse = Self(rawValue: "misuse")
}

extension StorageError: CustomStringConvertible {
  public var description: String {
    var text = "\(code.rawValue): \(message)"
    if !remedy.isEmpty { text += " \(remedy)" }
    if underlyingCode != 0 { text += " (code \(underlyingCode))" }
    return text
  }
}
