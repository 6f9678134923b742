import Synchronization

/// Caches which property a key path names: comparing two key paths takes longer than counting over an index.
///
/// A key path literal is one object, created when first reached and never released. The cache identifies up to 256 of them by that
/// object, which it retains while cached. Any thread. O(1).
enum KnownKeyPaths {
  struct Property: Sendable {
    let ordinal: Int
    /// The name alone, as a query's path; its storage is shared by all users.
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
    // Objects are aligned to 16 bytes.
    Int(truncatingIfNeeded: UInt(bitPattern: path) >> 4) & (size - 1)
  }

  static func property(of path: AnyKeyPath, in model: any Model.Type) -> Property? {
    let path = ObjectIdentifier(path)
    let entry = entries.withLock { $0[place(of: path)] }
    guard let entry, entry.path == path, entry.model == ObjectIdentifier(model) else { return nil }
    return entry.property
  }

  /// Caches a path, evicting another one from its slot.
  static func keep(_ path: AnyKeyPath, in model: any Model.Type, _ property: Property) {
    // Retained, so that no other object gets its address while it is cached.
    let held = ObjectIdentifier(Unmanaged.passRetained(path).takeUnretainedValue())
    let entry = Entry(path: held, model: ObjectIdentifier(model), property: property)
    let forgotten = entries.withLock { entries in
      let before = entries[place(of: held)]
      entries[place(of: held)] = entry
      return before?.path
    }
    // The entry's object was retained by the line above when cached, and only its address was ever handed out.
    if let forgotten, let object = UnsafeRawPointer(bitPattern: UInt(bitPattern: forgotten)) {
      Unmanaged<AnyKeyPath>.fromOpaque(object).release()
    }
  }
}
