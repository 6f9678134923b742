/// A power of engines: unsynced commits can be made durable later, all at once.
public protocol DeferredSync: StorageEngine {
  /// Returns once every commit of this process that returned before the call survives a power cut. Blocks the thread as long as
  /// the disk takes; must not be called while the same thread has a write open. `.io`, `.outOfDiskSpace`.
  func syncCommits() throws(StorageError)
}
