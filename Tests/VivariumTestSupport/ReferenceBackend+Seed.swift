import StorageInterface
import StorageReference
import StoreValues

extension ReferenceBackend {
  /// A store in memory whose batches change in size and layout from call to call, the same way for each seed. A store of its own
  /// when the name is nil.
  public init(name: String? = nil, seed: UInt64 = 1) {
    self.init(name: name) { call in BatchEncoder(SeededGenerator(seed: seed &+ call &* 0x2545_F491_4F6C_DD1D)) }
  }
}

extension StoreConfiguration {
  /// The plain engine, for tests: everything in memory, batches of changing sizes and layouts.
  public static func reference(_ name: String? = nil, models: [any SchemaDescribing.Type]) -> StoreConfiguration {
    StoreConfiguration(backend: ReferenceBackend(name: name), models: models)
  }
}
