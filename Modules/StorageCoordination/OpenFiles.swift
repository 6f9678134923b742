import StorageInterface
import Synchronization

/// The open engines of one kind in this process, by file: two paths of one file give one engine.
///
/// Holds its engines weakly: an engine closes with its last reference. Use one registry per kind of engine, in a `static let`.
/// Safe from any thread; a forked child starts with an empty one.
public final class OpenFiles<Engine: AnyObject & Sendable>: Sendable {
  private struct Entry: Sendable {
    let identity: FileIdentity
    weak let engine: Engine?
    let mark: ForkMark
  }

  /// A few, at most one per file.
  private let entries = Mutex<[Entry]>([])

  public init() {}

  /// The engine that has the file at `path` open, or the result of `open`, which is then registered.
  ///
  /// One open at a time: two threads that open the same new file get the same engine. `open` may create the
  /// file. It must not use this registry.
  public func engine(
    at path: String, open: () throws(StorageError) -> Engine
  ) throws(StorageError) -> Engine {
    try entries.withLock { entries throws(StorageError) in
      if let identity = FileIdentity(path: path), let entry = entries.first(where: { $0.identity == identity }),
        let engine = entry.engine, !entry.mark.isStale {
        return engine
      }
      let engine = try open()
      let identity = FileIdentity(path: path)
      entries.removeAll { $0.engine == nil || $0.identity == identity }
      if let identity { entries.append(Entry(identity: identity, engine: engine, mark: ForkMark())) }
      return engine
    }
  }

  /// Call when an engine is closed while others still refer to it: the next open creates a new one.
  public func forget(_ engine: Engine) {
    entries.withLock { entries in entries.removeAll { $0.engine === engine || $0.engine == nil } }
  }
}
