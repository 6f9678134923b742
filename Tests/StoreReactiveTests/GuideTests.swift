import StorageMemory
import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

/// What the page and the doc comments show, to the letter.
private enum Guide {
  @Model final class TaskItem {
    var name = ""
    var isCompleted = false
  }

  @Model final class Preferences {
    var hidesCompleted = false
  }

  /// What stands for a table view.
  final class Table {
    var changes: [LiveChanges?] = []
    let shown = AsyncSignal()
    func apply(_ changes: LiveChanges?) { self.changes.append(changes) }
    func show(_ tasks: Results<TaskItem>, _ changes: LiveChanges?) {
      apply(changes)
      shown.fire()
    }
  }

  static func make() throws -> Store {
    try Store(Store.Configuration.memory(models: TaskItem.self, Preferences.self).byHand, isolation: nil)
  }

  static func stream(_ tasks: Results<TaskItem>, _ table: Table, _ cancellables: inout Set<AnyCancellable>) {
    Live.changeset(from: tasks)
      .sink(receiveCompletion: { _ in }) { tasks, changes in table.apply(changes) }
      .store(in: &cancellables)
  }

  static func together(_ preferences: Preferences, _ todos: Results<TaskItem>, _ show: @escaping ([String]) -> Void) -> AnyCancellable {
    let shown =
      Live.combineLatest(preferences, todos).map { preferences, todos in
        preferences.hidesCompleted ? todos.where { $0.isCompleted == false } : todos
      }
    return shown.sink(receiveCompletion: { _ in }) { show($0.map(\.name)) }
  }

  static func page(_ store: Store, _ table: Table, isolation: isolated (any Actor)? = #isolation) async throws {
    for try await (tasks, changes) in Live.changeset(from: store.objects(TaskItem.self)).values { table.show(tasks, changes) }
  }

  static func comment(_ tasks: Results<TaskItem>, _ table: Table, isolation: isolated (any Actor)? = #isolation) async throws {
    for try await (tasks, changes) in Live.changeset(from: tasks).values { table.show(tasks, changes) }
  }
}

@Suite(.timeLimit(.minutes(15))) struct GuideTests {
  @Test func whatIsShownIsCode() throws {
    #expect(try ShownSamples.withoutCode(pages: ["Reactive.md", "ComingFromRxRealm.md"], modules: ["StoreReactive"]) == [])
  }

  @Test func whatIsShownDoesWhatIsSaid() throws {
    let store = try Guide.make()
    let (tasks, table) = (store.objects(Guide.TaskItem.self), Guide.Table())
    var cancellables: Set<AnyCancellable> = []
    Guide.stream(tasks, table, &cancellables)
    let preferences = Guide.Preferences()
    try store.write {
      try store.add([Guide.TaskItem(name: "a", isCompleted: true), Guide.TaskItem(name: "b")])
      try store.add(preferences)
    }
    store.refresh()
    #expect(table.changes == [nil, LiveChanges(inserted: [0, 1])])
    var shown: [[String]] = []
    let stream = Guide.together(preferences, tasks) { shown.append($0) }
    try store.write { preferences.hidesCompleted = true }
    store.refresh()
    #expect(shown == [["a", "b"], ["b"]])
    stream.cancel()
  }

  @MainActor @Test func loopsEndWithTheirTasks() async throws {
    let store = try Store(.memory(models: Guide.TaskItem.self, Guide.Preferences.self))
    let tables = [Guide.Table(), Guide.Table()]
    let loops = [
      Task { @MainActor in try await Guide.page(store, tables[0]) },
      Task { @MainActor in try await Guide.comment(store.objects(Guide.TaskItem.self), tables[1]) },
    ]
    for table in tables { await table.shown.wait() }
    try store.write { try store.add(Guide.TaskItem(name: "a")) }
    for table in tables { await table.shown.wait() }
    for loop in loops { loop.cancel() }
    for loop in loops { try await loop.value }
    #expect(tables.allSatisfy { $0.changes == [nil, LiveChanges(inserted: [0])] })
  }
}
