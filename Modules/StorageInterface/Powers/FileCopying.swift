import StoreValues

/// A power of engines: a version can be written to a new file of the same kind, concurrently with writers.
public protocol FileCopying: StorageEngine {
  /// Writes the newest version, and nothing else, to a file that does not exist yet: atomically, and synced when this returns.
  /// The copy has the same version, which is returned, and the same history and identity; nobody waits for it.
  ///
  /// Calls `progress` every few megabytes on the calling thread, which may stop the copy: `.cancelled`. `.fileExists` if a file
  /// of the new store exists, side files included; `.unsupported` if encryption is requested and the engine cannot encrypt;
  /// `.corrupt`, `.outOfDiskSpace`, `.io`, `.closed`. Costs one read and one write of the version.
  @discardableResult
  func writeCopy(
    to path: String, _ encryption: CopyEncryption, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version

  /// The same. With `isPrivate` the copy is its owner's alone, from its first byte on and whatever its name is until it is complete; an
  /// engine that does not implement this gives it the permissions of any copy.
  @discardableResult
  func writeCopy(
    to path: String, _ encryption: CopyEncryption, isPrivate: Bool, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version
}

extension FileCopying {
  /// Copies as the other one does.
  @discardableResult
  public func writeCopy(
    to path: String, _ encryption: CopyEncryption, isPrivate: Bool, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    try writeCopy(to: path, encryption, progress)
  }
}

/// The encryption of a copy.
public enum CopyEncryption: Sendable {
  /// As the store: with the same key, or not encrypted.
  case unchanged
  /// Not encrypted.
  case none
  /// With this key, whether or not the store is encrypted.
  case key(any StoreKey)
}

/// The progress of a copy.
public struct CopyProgress: Sendable, Hashable {
  /// The bytes written so far.
  public var bytesWritten: Int
  /// The estimated total: a copy is often smaller, because it has no gaps.
  public var bytesExpected: Int

  /// A progress of `bytesWritten` of `bytesExpected`.
  public init(bytesWritten: Int, bytesExpected: Int) {
    self.bytesWritten = bytesWritten
    self.bytesExpected = bytesExpected
  }

  /// From 0 to 1.
  public var fraction: Double { bytesExpected > 0 ? min(1, Double(bytesWritten) / Double(bytesExpected)) : 0 }
}
