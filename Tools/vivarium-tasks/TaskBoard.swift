import Foundation
import ResultsControl
import StorageInterface
import StorageLMDB
import SyncClient
import Vivarium

/// What is shown, and what can be done to it: the tasks of all lists, live, and writes.
@MainActor final class TaskBoard {
  /// One line of the screen: a list with its counts, or a task with the number that people call it by.
  struct Line {
    var number: Int?
    var text: String
  }

  private let store: Store
  private let controller: ResultsController<TaskItem, TaskItem>
  private let done: Results<TaskItem>
  /// Called after every change that was not made by moving a task here: what that does is shown already.
  var onChange: (() -> Void)?
  /// What keeps the list the same on other devices, and where it stands; nil where the list is of this machine alone.
  private(set) var sharing: TaskSharing?
  private var others: NotificationToken?
  private let file: TaskFile
  private let isReadOnly: Bool

  /// Opens a file, or makes it; for reading alone where it is there and may not be written.
  ///
  /// - Parameter sync: with whom it is kept the same. A list that was shared once keeps what the others have to hear of it, also without.
  static func open(_ url: URL, sync: SyncConfiguration?) throws -> TaskBoard {
    var configuration = Store.Configuration.lmdb(url, models: TaskItem.self, TaskList.self)
    configuration.sync = sync
    do {
      if sync == nil, try Store(configuration).file.read({ $0.catalog.hasSideEntries }) { configuration.sync = SyncConfiguration() }
      return try TaskBoard(configuration, url)
    } catch StoreError.Code.permissionDenied {
      configuration.options.isReadOnly = true
      return try TaskBoard(configuration, url)
    }
  }

  private init(_ configuration: Store.Configuration, _ url: URL) throws {
    store = try Store(configuration)
    file = TaskFile(url)
    isReadOnly = configuration.options.isReadOnly
    done = store.objects(TaskItem.self).where { $0.isDone }
    controller = try ResultsController(
      request: ResultsRequest<TaskItem>(
        store: store, sortedBy: [SortKey(PropertyPath("list.name")), SortKey(\TaskItem.place), SortKey(\TaskItem.id)]),
      sectionedBy: .by(keyPath: "list.name"))
    controller.performFetch()
    controller.onChange { [weak self] _, _ in self?.onChange?() }
    sharing = store.sync.map { TaskSharing($0) { [weak self] in self?.onChange?() } }
  }

  var count: Int { controller.numberOfObjects }
  var doneCount: Int { done.count }
  var title: String {
    let note = file.isGone ? ": the file is gone, nothing more is kept" : isReadOnly ? " (read-only)" : ""
    return "\(count - doneCount) of \(count) to do\(note)"
  }

  var lines: [Line] {
    if count == 0 { return [Line(text: "Nothing here yet: a adds a task.")] }
    var lines: [Line] = []
    var number = 0
    for section in controller.sections {
      let open = section.count { !$0.isDone }
      lines.append(Line(text: "\(section.name.isEmpty ? "No list" : section.name) (\(open) of \(section.count))"))
      for task in section {
        number += 1
        lines.append(Line(number: number, text: "[\(task.isDone ? "x" : " ")] \(task.title)"))
      }
    }
    return lines
  }

  /// The task with a number, from 1; nil when there is none.
  func task(_ number: Int) -> TaskItem? {
    guard number > 0 else { return nil }
    var row = number - 1
    for section in controller.sections {
      if section.indices.contains(row) { return section[row] }
      row -= section.count
    }
    return nil
  }

  func number(of task: TaskItem) -> Int? {
    guard let path = controller.indexPath(of: task) else { return nil }
    return (0..<path.section).reduce(path.row + 1) { $0 + controller.numberOfObjects(inSection: $1) }
  }

  func refresh() { store.refresh() }

  /// Calls from now on after every change that came from another device: what an ordinary observer of the tasks is told.
  func followOthers(_ tell: @escaping (String) -> Void) {
    others = store.objects(TaskItem.self).observe { change in
      guard case .update(_, let deletions, let insertions, let modifications) = change,
        let details = change.details, details.origins.contains(.otherReplica)
      else { return }
      tell("another device: \(insertions.count) new, \(modifications.count) changed, \(deletions.count) gone")
    }
  }
}

// MARK: - Writing

extension TaskBoard {
  func add(_ title: String, to name: String) throws {
    try store.write { try insert(title, name) }
    store.refresh()
  }

  private func insert(_ title: String, _ name: String) throws {
    let list = try store.object(TaskList.self, forPrimaryKey: name) ?? store.create(TaskList.self, value: ["name": name])
    let task = TaskItem(title: title, place: (list.tasks.map(\.place).max() ?? 0) + 1)
    try store.add(task)
    task.list = list
  }

  /// A few tasks, where nobody has made any yet.
  func fillIfNew() throws {
    if isReadOnly { return }
    try store.write {
      guard store.objects(TaskList.self).isEmpty else { return }
      try insert("Open this list in a second terminal", "First steps")
      try insert("Press space there, and look here", "First steps")
      try insert("Move this up with K", "First steps")
      try insert("Bread", "Groceries")
      try insert("Apples", "Groceries")
    }
    store.refresh()
  }

  func toggle(_ number: Int) throws {
    guard let task = task(number) else { return }
    try store.write { task.isDone.toggle() }
    store.refresh()
  }

  func delete(_ number: Int) throws {
    guard let task = task(number) else { return }
    try store.write { try store.delete(task) }
    store.refresh()
  }

  /// Moves a task by one line within its list. An interface-driven write: the person sees it at the key, and hears
  /// nothing of it again.
  func move(_ number: Int, by step: Int) throws {
    guard let task = task(number), let other = self.task(number + step), task.list == other.list else { return }
    try controller.writeWithoutTelling { _ in (task.place, other.place) = (other.place, task.place) }
  }
}
