import ColumnStore
import StorageInterface
import StoreValues
import Synchronization

/// Stores in the memory of this process, identified by name. A store lives as long as it is open, and all users of a name share
/// it.
public struct MemoryBackend: StorageBackend {
  public let location: String
  public var kind: String { "memory" }
  public var isFile: Bool { false }
  /// Determines the size of a new store's chunks.
  private let pageSize: Int

  /// The store with that name.
  public init(_ name: String) {
    location = name
    pageSize = 4_096
  }

  /// A separate store, with a unique name.
  public init() { self.init(pageSize: 4_096) }

  /// As `init()`, with chunks and blocks sized for pages of `pageSize` bytes: small ones let a test with few objects reach all
  /// boundary cases.
  package init(pageSize: Int) {
    location = "memory-\(MemoryBackend.counter.wrappingAdd(1, ordering: .relaxed).newValue)"
    self.pageSize = pageSize
  }

  private static let counter = Atomic(0)

  private struct Open {
    weak var engine: ColumnEngine?
  }

  private static let open = Mutex<[String: Open]>([:])

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    let result = MemoryBackend.open.withLock { open -> Result<any StorageEngine, StorageError> in
      if let engine = open[location]?.engine, !engine.isClosed { return .success(engine) }
      do throws(StorageError) {
        let engine = try ColumnEngine(MemoryStore(pageSize: pageSize), options)
        open = open.filter { $0.value.engine != nil }
        open[location] = Open(engine: engine)
        return .success(engine)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  public func isPresent() -> Bool {
    MemoryBackend.open.withLock { $0[location]?.engine.map { !$0.isClosed } ?? false }
  }

  public func remove() throws(StorageError) {
    if isPresent() {
      throw StorageError(
        .alreadyOpen, .statement, "The store '\(location)' is open.", remedy: "Close it; it is gone then.")
    }
  }
}

extension StoreConfiguration {
  /// A store in memory, separate unless it has a name that others open too.
  public static func memory(_ name: String? = nil, models: any SchemaDescribing.Type...) -> StoreConfiguration {
    StoreConfiguration(backend: name.map { MemoryBackend($0) } ?? MemoryBackend(), models: models)
  }
}
