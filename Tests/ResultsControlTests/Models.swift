import ResultsControl
import StorageMemory
import Vivarium

@Model final class Project {
  @PrimaryKey var name: String
}

@Model final class User {
  @PrimaryKey var id: Int
  var name = ""
  @Inverse(\TaskItem.assignedUser) var tasks: LinkingObjects<TaskItem>
}

@Model final class TaskItem {
  @PrimaryKey var id: Int
  var projectID = 0
  var name = ""
  var isDone = false
  var project: Project?
  var assignedUser: User?
  var place = 0.0
}

func makeConfiguration() -> Store.Configuration {
  var configuration = Store.Configuration.memory(models: TaskItem.self, Project.self, User.self)
  configuration.manualDelivery = true
  return configuration
}

func makeStore() throws -> Store { try Store(makeConfiguration(), isolation: nil) }

/// A store with tasks in projects: `(id, projectID, name)`.
func makeStore(_ tasks: [(Int, Int, String)]) throws -> Store {
  let store = try makeStore()
  try store.write {
    for (id, project, name) in tasks { try store.add(TaskItem(id: id, projectID: project, name: name)) }
  }
  store.refresh()
  return store
}

func task(_ store: Store, _ id: Int) throws -> TaskItem {
  guard let task = store.object(TaskItem.self, forPrimaryKey: id) else { throw StoreError(.objectDeleted, "No task \(id).") }
  return task
}

let byProject = [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]

extension ResultsController where T == TaskItem, U == String {
  /// Everything as text: `["1: a b", "2: c"]`.
  /// Every row, in order.
  var names: [String] { sections.flatMap { Array($0) } }
  var text: [String] { sections.map { "\($0.name): \($0.joined(separator: " "))" } }
}

/// Writes down what it hears.
final class Recorder<Element>: ResultsControllerDelegate {
  private(set) var lines: [String] = []

  func take() -> [String] {
    defer { lines = [] }
    return lines
  }

  func willChangeResults(_ controller: AnyObject) { lines.append("will") }

  func didChangeObject(
    _ object: Element?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType
  ) {
    lines.append("\(changeType) \(object.map { "\($0)" } ?? "-") \(oldPath) \(newPath)")
  }

  func didChangeSection(
    _ section: ResultsSection<Element>, controller: AnyObject, index: Int, changeType: ResultsChangeType
  ) {
    lines.append("\(changeType) section \(section.name) \(index)")
  }

  func didChangeResults(_ controller: AnyObject) { lines.append("did") }
}
