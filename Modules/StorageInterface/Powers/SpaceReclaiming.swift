/// A power of engines: what lies free in their files can be given back to the system.
public protocol SpaceReclaiming: StorageEngine {
  /// Gives back the space that no version of the data needs any more, and returns the bytes that the files take less on
  /// disk. Others read meanwhile; writers wait, for some milliseconds at a time where the engine can do it in parts.
  /// What readers of old versions hold stays. `.writeTimeout`, `.readOnly`, `.io`, `.outOfDiskSpace`.
  func reclaimSpace(_ deadline: Deadline) throws(StorageError) -> Int
}
