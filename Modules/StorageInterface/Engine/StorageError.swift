import StoreValues

/// Everything the data, the disk, another process or a limit can cause at the storage interface.
///
/// An engine throws it and nothing else. Using a transaction after `end()` or a column of another table is a
/// mistake of the code above the storage interface and throws `.misuse`; it never aborts the process and never returns
/// made-up data.
public struct StorageError: Error, Sendable {
  /// What happened. Open: an engine may add codes under its own prefix ("lmdb.…"); code that switches over
  /// codes needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// What is spoiled, and so what the caller may do next.
  public enum Scope: Sendable, Hashable {
    /// Only this call, which had no effect. The transaction goes on: a duplicate key must not cost the batch.
    case statement
    /// The transaction. End it; the next one starts clean.
    case transaction
    /// The engine. Close it; opening again may help, as `remedy` says.
    case engine
  }

  /// What happened, for code.
  public var code: Code
  /// What is spoiled, and so what may be done next.
  public var scope: Scope
  /// One sentence: what happened, with the names and numbers that matter.
  public var message: String
  /// One sentence: what helps. Empty when nothing does.
  public var remedy: String
  /// The code of the library or system call below; 0 when there was none.
  public var underlyingCode: Int32
  /// For `.uniqueViolation`: the index that refused, and the object that has the value already.
  public var index: IndexID?
  /// See `index`.
  public var conflictingKey: ObjectKey?

  /// For engines, which say what happened, what it spoils, and what helps.
  public init(
    _ code: Code, _ scope: Scope, _ message: String, remedy: String = "", underlyingCode: Int32 = 0,
    index: IndexID? = nil, conflictingKey: ObjectKey? = nil
  ) {
    self.code = code
    self.scope = scope
    self.message = message
    self.remedy = remedy
    self.underlyingCode = underlyingCode
    self.index = index
    self.conflictingKey = conflictingKey
  }
}

extension StorageError.Code {
  // Opening.
  /// There is no file, and it was not to be made.
  public static let fileNotFound = Self(rawValue: "fileNotFound")
  /// The system does not let this process read, or write, the file or its folder.
  public static let permissionDenied = Self(rawValue: "permissionDenied")
  /// The file exists and is not this engine's.
  public static let foreignFile = Self(rawValue: "foreignFile")
  /// The file is this engine's and damaged.
  public static let corrupt = Self(rawValue: "corrupt")
  /// The file was written by a newer format than this build knows.
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
  /// The engine, or this build of it, cannot do what was asked for.
  public static let unsupported = Self(rawValue: "unsupported")
  /// The range of addresses that the file needs is not to be had, or larger than it was opened for.
  public static let addressSpace = Self(rawValue: "addressSpace")
  // Running.
  /// The disk or the file system failed.
  public static let io = Self(rawValue: "io")
  /// The commit is visible and counts, but the disk did not confirm it: a power cut may take it. Not to be repeated.
  public static let unsynced = Self(rawValue: "unsynced")
  /// There is no room for what was to be written.
  public static let outOfDiskSpace = Self(rawValue: "outOfDiskSpace")
  /// A write to an engine that was opened to be read.
  public static let readOnly = Self(rawValue: "readOnly")
  /// Another writer did not end before the deadline.
  public static let writeTimeout = Self(rawValue: "writeTimeout")
  /// More snapshots than the engine has places for.
  public static let tooManyReaders = Self(rawValue: "tooManyReaders")
  /// The snapshot can be read no more: another program wrote the file meanwhile.
  public static let snapshotExpired = Self(rawValue: "snapshotExpired")
  /// The commits that were asked for are not in the file's history any more.
  public static let historyTrimmed = Self(rawValue: "historyTrimmed")
  /// The process forked after opening; the child must open for itself.
  public static let forked = Self(rawValue: "forked")
  /// A file of the store was replaced, renamed or removed while it was open: what is written to it, nobody will find.
  public static let replaced = Self(rawValue: "replaced")
  /// Whoever asked for it has stopped it before it was done.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The engine was closed.
  public static let closed = Self(rawValue: "closed")
  // Statements.
  /// A unique index has that value already: see `index` and `conflictingKey`.
  public static let uniqueViolation = Self(rawValue: "uniqueViolation")
  /// There is no object of that key.
  public static let objectDeleted = Self(rawValue: "objectDeleted")
  /// A value, or a row, that is larger than the engine keeps.
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
