/// A power of engines: free space in their files can be returned to the system.
public protocol SpaceReclaiming: StorageEngine {
  /// Returns the space that no version needs to the system; the result is by how many bytes the files' disk usage shrank.
  /// Readers continue meanwhile; writers wait, for some milliseconds at a time if the engine can do it in parts. Space held by
  /// readers of old versions stays. `.writeTimeout`, `.readOnly`, `.io`, `.outOfDiskSpace`.
  func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int
}
