import ColumnStore
import Storage
import Synchronization
import Values

/// Stores in the memory of this process, told apart by name. A store lives as long as somebody has it open, and
/// all who open the same name share it.
public struct MemoryBackend: StorageBackend {
  public let location: String
  public var kind: String { "memory" }

  /// A store of that name.
  public init(_ name: String) { location = name }

  /// A store of its own, under a name that nobody else has.
  public init() { location = "memory-\(MemoryBackend.counter.wrappingAdd(1, ordering: .relaxed).newValue)" }

  private static let counter = Atomic(0)

  private struct Open {
    weak var engine: ColumnEngine?
  }

  private static let open = Mutex<[String: Open]>([:])

  public func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    let result = MemoryBackend.open.withLock { open -> Result<any StorageEngine, StorageError> in
      if let engine = open[location]?.engine, !engine.isClosed { return .success(engine) }
      do throws(StorageError) {
        let engine = try ColumnEngine(MemoryStore(), options)
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
