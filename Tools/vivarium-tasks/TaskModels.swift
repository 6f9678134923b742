import Foundation
import Vivarium

/// One line of a list.
@Model final class TaskItem {
  @PrimaryKey var id: UUID = UUID()
  var title: String
  var isDone = false
  /// Its place among the tasks of its list; ties stand in the order of insertion.
  var place = 0.0
  var list: TaskList?
}

@Model final class TaskList {
  @PrimaryKey var name: String
  @Inverse(\TaskItem.list) var tasks: LinkingObjects<TaskItem>
}
