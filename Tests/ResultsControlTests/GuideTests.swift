import ResultsControl
import Testing
import Vivarium
import VivariumTestSupport

/// What the page and the doc comments show, to the letter.
private final class Guide: ResultsControllerDelegate {
  typealias Element = TaskRow

  struct TaskRow: Equatable {
    let name: String
    init(_ task: TaskItem) { name = task.name }
  }

  struct Card: Sendable {
    let text: String
    init(_ task: Frozen<TaskItem>) { text = "\(task.name) (\(task.assignedUser?.name ?? "-"))" }
  }

  /// What stands for a table view.
  final class Table {
    var moves: [[RowPath]] = []
    func moveRow(at from: RowPath, to: RowPath) { moves.append([from, to]) }
  }

  final class DataSourceSnapshot {
    var sections: [Value] = []
    var items: [ObjectID] = []
    func appendSections(_ keys: [Value]) { sections += keys }
    func appendItems(_ objects: [ObjectID]) { items += objects }
  }

  private(set) var batches = 0
  func didChangeResults(_ controller: AnyObject) { batches += 1 }

  func page(_ store: Store) throws -> ResultsController<TaskItem, TaskRow> {
    let request = ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]) { $0.isDone == false }
    let controller = try ResultsController(request: request, sectionedBy: .by(\.projectID), mapper: TaskRow.init)
    controller.delegate = self
    controller.performFetch()
    return controller
  }

  func comment(_ store: Store) throws -> Int {
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]),
      sectionedBy: .by(\.projectID), mapper: TaskRow.init)
    controller.delegate = self
    controller.performFetch()
    let count = controller.numberOfObjects
    controller.stop()
    return count
  }

  func asking(_ store: Store) -> Int {
    let request = ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]) { $0.isDone == false }
    let tasks = request.execute()
    return tasks.count
  }

  static func elsewhere(_ request: ResultsRequest<TaskItem>, isolation: isolated (any Actor)? = #isolation) async throws -> [String] {
    let controller = try ResultsController(request: request, mappingElsewhere: { (task: Frozen<TaskItem>) in Card(task) })
    await controller.fetch()
    defer { controller.stop() }
    return controller.sections.flatMap { $0.map(\.text) }
  }

  static func feed(_ controller: ResultsController<TaskItem, TaskRow>) -> DataSourceSnapshot {
    let dataSourceSnapshot = DataSourceSnapshot()
    for section in controller.snapshot.sections {
      dataSourceSnapshot.appendSections([section.key])
      dataSourceSnapshot.appendItems(section.objects)
    }
    return dataSourceSnapshot
  }

  static func drag(
    _ task: TaskItem, _ newPlace: Double, from: RowPath, to: RowPath, _ controller: ResultsController<TaskItem, TaskRow>
  ) throws -> Table {
    let table = Table()
    table.moveRow(at: from, to: to)
    try controller.writeWithoutTelling { store in task.place = newPlace }
    return table
  }
}

@Suite struct GuideTests {
  @Test func whatIsShownIsCode() throws {
    #expect(
      try ShownSamples.withoutCode(
        pages: ["ResultsControl.md", "ComingFromRealmResultsController.md"], modules: ["ResultsControl"]) == [])
  }

  @Test func whatIsShownDoesWhatIsSaid() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c"), (4, 2, "d")])
    try store.write { try task(store, 4).isDone = true }
    let guide = Guide()
    #expect(try guide.comment(store) == 4 && guide.asking(store) == 3)
    let controller = try guide.page(store)
    #expect(controller.sections.map { $0.map(\.name) } == [["a", "b"], ["c"]])
    let feed = Guide.feed(controller)
    #expect(feed.sections == [.int(1), .int(2)] && feed.items.count == 3)
    let (from, to) = (RowPath(section: 0, row: 1), RowPath(section: 0, row: 0))
    #expect(try Guide.drag(try task(store, 2), 0.5, from: from, to: to, controller).moves == [[from, to]])
    #expect(controller.sections.map { $0.map(\.name) } == [["a", "b"], ["c"]] && guide.batches == 0)
    try store.write { try task(store, 3).isDone = true }
    store.refresh()
    #expect(guide.batches == 1 && controller.numberOfSections == 1)
    controller.stop()
  }

  @MainActor @Test func cardsAreMadeElsewhere() async throws {
    let store = try Store(makeConfiguration())
    try store.write { try store.add(TaskItem(id: 1, projectID: 1, name: "a")) }
    let request = ResultsRequest<TaskItem>(store: store, sortedBy: byProject)
    #expect(try await Guide.elsewhere(request) == ["a (-)"])
  }
}
