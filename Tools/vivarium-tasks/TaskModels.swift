import Foundation
import Vivarium

/// One line of a list.
@Model final class TaskItem {
  @PrimaryKey var id: UUID = UUID()
  var title: String
  var isDone = false
  /// Its place among the tasks of its list. Two devices can give the same one while they do not see each other: then the order of `id`
  /// decides, which is the same everywhere.
  var place = 0.0
  var list: TaskList?
}

@Model final class TaskList {
  @PrimaryKey var name: String
  @Inverse(\TaskItem.list) var tasks: LinkingObjects<TaskItem>
}
