import ColumnStore
import StorageInterface
import StoreValues
import Synchronization

/// Stores in the memory of this process, told apart by name. A store lives as long as somebody has it open, and
/// all who open the same name share it.
public struct MemoryBackend: StorageBackend {
  public let location: String
  public var kind: String { "memory" }
  public var isFile: Bool { false }
  /// What the chunks of a new store are sized by.
  private let pageSize: Int

  /// A store of that name.
  public init(_ name: String) {
    location = name
    pageSize = 4_096
  }

  /// A store of its own, under a name that nobody else has.
  public init() { self.init(pageSize: 4_096) }

  /// As `init()`, with chunks and blocks for pages of `pageSize` bytes: small ones let a test of few objects
  /// reach everything that happens at their ends.
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
  /// A store in memory, of its own unless it is given a name that others open too.
  public static func memory(_ name: String? = nil, models: any SchemaDescribing.Type...) -> StoreConfiguration {
    StoreConfiguration(backend: name.map { MemoryBackend($0) } ?? MemoryBackend(), models: models)
  }
}
