/// A power of engines: commits that were not synced can be made durable later, all at once.
public protocol DeferredSync: StorageEngine {
  /// Returns when every commit of this process that returned before the call survives a power cut. Blocks the thread
  /// for as long as the disk takes; not while a write of the same thread is open. `.io`, `.outOfDiskSpace`.
  func syncCommits() throws(StorageError)
}
