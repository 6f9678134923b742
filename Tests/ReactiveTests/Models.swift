import StorageMemory
import Vivarium

@Model final class Lap {
  @PrimaryKey var number: Int
  var time = 0
}

@Model final class Timer {
  @PrimaryKey var id: Int
  var seconds = 0
}

func makeConfiguration() -> Store.Configuration {
  var configuration = Store.Configuration.memory(models: Lap.self, Timer.self)
  configuration.misuse = .ignore
  return configuration
}

func makeStore() throws -> Store { try Store(makeConfiguration(), isolation: nil) }
