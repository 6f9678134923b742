import Foundation
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

@Model final class Todo {
  @PrimaryKey var title: String
  var isCompleted = false
}

@Model final class Preferences {
  @PrimaryKey var id: Int
  var hidesCompletedTodos = false
}

@Model final class Mail {
  @PrimaryKey var id: Int
  var dateReceived = Date(timeIntervalSince1970: 0)
}

func makeConfiguration() -> Store.Configuration {
  var configuration = Store.Configuration.memory(
    models: Lap.self, Timer.self, Todo.self, Preferences.self, Mail.self)
  configuration.manualDelivery = true
  return configuration
}

func makeStore() throws -> Store { try Store(makeConfiguration(), isolation: nil) }
