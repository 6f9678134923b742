import StorageMemory
import Vivarium

@Model final class Dog {
  @PrimaryKey var name: String
  var age = 0
}

struct Refused: Error, Equatable {
  var number: Int
}

func makeConfiguration() -> Store.Configuration {
  var configuration = Store.Configuration.memory(models: Dog.self)
  configuration.manualDelivery = true
  return configuration
}

func makeStore() throws -> Store { try Store(makeConfiguration(), isolation: nil) }

/// How many commits the store's file has seen.
func commitCount(_ store: Store) -> UInt64 { store.version.rawValue }
