import StoreValues

/// A power of engines: they write a version of the data into a new file of their own kind, while others write on.
public protocol FileCopying: StorageEngine {
  /// Writes the newest version, and nothing that it does not need, to a file that is not there yet: as a whole or not at all, and on
  /// the disk when this returns. The copy has the same version, history and identity; nobody waits for it.
  ///
  /// `progress` hears every few megabytes how far it has come, on the calling thread, and may stop it: `.cancelled`. `.fileExists` where
  /// a file of the new store is there, one of those beside it too; `.unsupported` where the engine cannot encrypt, and is to;
  /// `.corrupt`, `.outOfDiskSpace`, `.io`, `.closed`. Costs as much as reading the version and writing it once.
  func writeCopy(
    to path: String, _ encryption: CopyEncryption, _ progress: (CopyProgress) -> Step
  ) throws(StorageError)
}

/// How a copy is encrypted.
public enum CopyEncryption: Sendable {
  /// As the store is: with the same key, or not at all.
  case unchanged
  /// Not at all.
  case none
  /// With this key, whether the store is encrypted or not.
  case key(any StoreKey)
}

/// How far a copy has come.
public struct CopyProgress: Sendable, Hashable {
  /// What was written of it.
  public var bytesWritten: Int
  /// What there is to write, as far as that is known: a copy is often smaller, as it has no gaps.
  public var bytesExpected: Int

  /// So far of so much.
  public init(bytesWritten: Int, bytesExpected: Int) {
    self.bytesWritten = bytesWritten
    self.bytesExpected = bytesExpected
  }

  /// From 0 to 1.
  public var fraction: Double { bytesExpected > 0 ? min(1, Double(bytesWritten) / Double(bytesExpected)) : 0 }
}
