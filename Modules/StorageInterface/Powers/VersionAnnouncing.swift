import StoreValues

/// A power of engines: the holder of a version can be announced to all processes by name.
public protocol VersionAnnouncing: StorageEngine {
  /// Lists the holder of a version, with its label, in `statistics().pins` of every process that has the store open, until the
  /// announcement is dropped or the process ends. It protects nothing: the holder's snapshot does that. nil if there is no room
  /// or no permission. A few microseconds.
  func announce(_ version: Version, label: String) -> (any VersionAnnouncement)?
}

extension VersionAnnouncing {
  /// The engine itself.
  public var announcing: (any VersionAnnouncing)? { self }
}

/// A holder's entry in the list of held versions that all processes see.
public protocol VersionAnnouncement: AnyObject, Sendable {
  /// Changes the held version. Well under a microsecond, from any thread.
  func move(to version: Version)
}
