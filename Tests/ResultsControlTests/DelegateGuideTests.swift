import ResultsControl
import Testing
import Vivarium
import VivariumTestSupport

struct TaskLine: Equatable {
  let name: String
  init(_ task: TaskItem) { name = task.name }
}

/// What stands for a table view: it writes down what it is told.
final class TaskTable {
  var told: [String] = []
  func beginUpdates() { told.append("begin") }
  func endUpdates() { told.append("end") }
  func insertSection(_ index: Int) { told.append("insert section \(index)") }
  func deleteSection(_ index: Int) { told.append("delete section \(index)") }
  func insertRow(at path: RowPath) { told.append("insert \(path.section).\(path.row)") }
  func deleteRow(at path: RowPath) { told.append("delete \(path.section).\(path.row)") }
  func moveRow(at from: RowPath, to: RowPath) { told.append("move \(from.section).\(from.row) \(to.section).\(to.row)") }
  func reloadRow(at path: RowPath) { told.append("reload \(path.section).\(path.row)") }
  func show(_ message: String) { told.append(message) }
}

final class TaskScreen: ResultsControllerDelegate {
  let table = TaskTable()

  func willChangeResults(_ controller: AnyObject) { table.beginUpdates() }
  func didChangeSection(_ section: ResultsSection<TaskLine>, controller: AnyObject, index: Int, changeType: ResultsChangeType) {
    if changeType == .insert { table.insertSection(index) } else { table.deleteSection(index) }
  }

  func didChangeObject(_ row: TaskLine?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType) {
    switch changeType {
    case .insert: table.insertRow(at: newPath)
    case .delete: table.deleteRow(at: oldPath)
    case .move: table.moveRow(at: oldPath, to: newPath)
    case .update: table.reloadRow(at: oldPath)
    }
  }

  func didChangeResults(_ controller: AnyObject) { table.endUpdates() }
  func resultsFailed(_ error: StoreError, controller: AnyObject) { table.show(error.message) }
}

/// The delegate of Docs/ResultsControl.md, as a table hears it.
@Suite struct DelegateGuideTests {
  @Test func aTableFollowsTheDelegateCallByCall() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c")])
    let request = ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)])
    let controller = try ResultsController(request: request, sectionedBy: .by(\.projectID), mapper: TaskLine.init)
    let screen = TaskScreen()
    controller.delegate = screen
    controller.performFetch()
    try store.write {
      try store.add(TaskItem(id: 4, projectID: 3, name: "d"))
      try store.delete(try task(store, 1))
      try task(store, 3).name = "cc"
    }
    store.refresh()
    #expect(screen.table.told == ["begin", "insert section 2", "delete 0.0", "insert 2.0", "reload 1.0", "end"])
    controller.stop()
  }
}
