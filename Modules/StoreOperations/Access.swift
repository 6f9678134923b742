/// Whether an operation writes, as a type: `ReadOnly`, `ReadWrite`, or `AnyAccess` if this is known only at run time.
public protocol Access: Sendable {
  /// The mode that the type determines; nil for `AnyAccess`.
  static var mode: AccessMode? { get }
}

/// Whether an operation writes, as a value.
public enum AccessMode: Sendable, Hashable {
  case readOnly
  case readWrite
}

/// The access of operations that read: they run without a transaction, on one version.
public enum ReadOnly: Access {
  public static var mode: AccessMode? { .readOnly }
}

/// The access of operations that write: each run is one transaction.
public enum ReadWrite: Access {
  public static var mode: AccessMode? { .readWrite }
}

/// The access of operations for which only the run time knows whether they write.
public enum AnyAccess: Access {
  public static var mode: AccessMode? { nil }
}
