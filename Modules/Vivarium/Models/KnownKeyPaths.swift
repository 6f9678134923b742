import Synchronization

/// Which properties key paths are, for those that were looked for before: comparing two key paths takes longer than counting
/// over an index.
///
/// A key path that is written in a program is one object, made when it is first reached and never let go of. Up to 256 of
/// them are known by that object, which is held as long as it is known. Any thread. O(1).
enum KnownKeyPaths {
  struct Property: Sendable {
    let ordinal: Int
    /// Its name alone, as a query writes a path to it: shared by all that name it.
    let path: [String]
    var name: String { path[0] }
  }

  private struct Entry: Sendable {
    let path: ObjectIdentifier
    let model: ObjectIdentifier
    let property: Property
  }

  private static let size = 256
  private static let entries = Mutex<[Entry?]>(Array(repeating: nil, count: size))

  private static func place(of path: ObjectIdentifier) -> Int {
    // Objects lie at multiples of sixteen.
    Int(truncatingIfNeeded: UInt(bitPattern: path) >> 4) & (size - 1)
  }

  static func property(of path: AnyKeyPath, in model: any Model.Type) -> Property? {
    let path = ObjectIdentifier(path)
    let entry = entries.withLock { $0[place(of: path)] }
    guard let entry, entry.path == path, entry.model == ObjectIdentifier(model) else { return nil }
    return entry.property
  }

  /// Where another path has the place it is forgotten.
  static func keep(_ path: AnyKeyPath, in model: any Model.Type, _ property: Property) {
    // Held, so that no other object gets its address while it is known.
    let held = ObjectIdentifier(Unmanaged.passRetained(path).takeUnretainedValue())
    let entry = Entry(path: held, model: ObjectIdentifier(model), property: property)
    let forgotten = entries.withLock { entries in
      let before = entries[place(of: held)]
      entries[place(of: held)] = entry
      return before?.path
    }
    // It was held by the line above when it came in, and nothing but its address was ever given out.
    if let forgotten, let object = UnsafeRawPointer(bitPattern: UInt(bitPattern: forgotten)) {
      Unmanaged<AnyKeyPath>.fromOpaque(object).release()
    }
  }
}
