import Dispatch
import ResultsControl
import Testing
import Vivarium
import VivariumTestSupport

/// Random histories through `Vivarium`, by this store and another, with writes that are not told: what the delegate is told, done to what
/// was shown, gives what is there. The calls of a batch are bracketed.
@Suite struct HistoryTests {
  @Test func theDelegateLeadsFromEachStateToTheNext() throws {
    try play { store in
      try ResultsController(
        request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), mapper: Card.init)
    }
  }

  @Test func theDelegateLeadsThroughLinksFiltersAndWindows() throws {
    try play { store in
      try ResultsController(
        request: ResultsRequest<TaskItem>(
          store: store, sortedBy: [SortKey(PropertyPath("project.name")), SortKey(\TaskItem.name, ascending: false)]
        ) { $0.isDone == false },
        sectionedBy: .by(keyPath: "project.name"), limit: 12, neighbours: [-1], mapper: Card.init,
        filter: { $0.assignedUser?.name != "u1" })
    }
  }

  @Test func theDelegateLeadsThroughSectionsByCode() throws {
    try play { store in
      try ResultsController(
        request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.name)]),
        sectionedBy: Sectioning<TaskItem>.by(["name"]) { String($0.name.prefix(1)) }.keeping(["a", "c"]), mapper: Card.init)
    }
  }

  private func play(
    _ make: (Store) throws -> ResultsController<TaskItem, Card>, _ name: String = #function
  ) throws {
    var random = SeededGenerator.forTest(name)
    for _ in 0..<environmentNumber("VIVARIUM_CONTROLLER_HISTORIES", default: 4) {
      let history = try History(random.oneIn(2) ? DispatchQueue(label: "history") : nil, make)
      for _ in 0..<25 { guard try history.step(&random) else { return } }
      history.end()
    }
  }
}

/// One controller, what its delegate shows, and who writes.
private final class History {
  /// The context of the controller's store; nil: its turns are taken by hand.
  private let queue: DispatchQueue?
  private let store: Store
  private let other: Store
  private let controller: ResultsController<TaskItem, Card>
  private let follower = Follower()

  init(_ queue: DispatchQueue?, _ make: (Store) throws -> ResultsController<TaskItem, Card>) throws {
    let configuration = makeConfiguration()
    let store = try queue.map { try Store(configuration, queue: $0) } ?? Store(configuration, isolation: nil)
    (self.queue, self.store) = (queue, store)
    let other = try Store(configuration, isolation: nil)
    self.other = other
    try other.write {
      for number in 0..<3 {
        try other.add(Project(name: "p\(number)"))
        try other.add(User(id: number, name: "u\(number)"))
      }
    }
    controller = try History.turn(queue) {
      store.refresh()
      return try make(store)
    }
    turn {
      controller.delegate = follower
      controller.performFetch()
      follower.shown = controller.sections.map(Array.init)
    }
  }

  func end() { turn { controller.stop() } }

  private static func turn<R>(_ queue: DispatchQueue?, _ body: () throws -> R) rethrows -> R {
    if let queue { try queue.sync(execute: body) } else { try body() }
  }

  /// Runs `body` in the store's context. Between two of these a queue takes turns by itself, also while the other store writes.
  private func turn<R>(_ body: () throws -> R) rethrows -> R { try History.turn(queue, body) }

  /// Some writes, and what is told of them. False if something was told wrong.
  func step(_ random: inout SeededGenerator) throws -> Bool {
    for _ in 0...random.below(2) {
      let edits = 0...random.below(4)
      if random.oneIn(2) {
        try other.write { for _ in edits { try edit(other, &random) } }
      } else {
        try turn { try store.write { for _ in edits { try edit(store, &random) } } }
      }
    }
    if random.oneIn(3) { try turn { try writeUntold(&random) } }
    return turn {
      if random.oneIn(8) { controller.showMore(random.below(3) - 1) }
      store.refresh()
      let now = controller.sections.map(Array.init)
      #expect(follower.shown == now && follower.fault == nil, "\(queue == nil ? "by hand" : "on a queue")")
      return follower.fault == nil && follower.shown == now
    }
  }

  /// By the interface: it shows already what this makes, and is not told.
  private func writeUntold(_ random: inout SeededGenerator) throws {
    let edits = 0...random.below(3)
    func body(_ random: inout SeededGenerator) throws {
      // What came before was told before the write began.
      follower.isSilent = true
      for _ in edits { try edit(store, &random) }
    }
    if random.oneIn(2) {
      try controller.writeWithoutTelling { _ in try body(&random) }
    } else {
      try store.write(silently: true) { try body(&random) }
    }
    follower.shown = controller.sections.map(Array.init)
    follower.isSilent = false
  }

  private func edit(_ store: Store, _ random: inout SeededGenerator) throws {
    let tasks = store.objects(TaskItem.self)
    let names = ["a", "ab", "b", "bc", "c", "d"]
    func project(_ random: inout SeededGenerator) -> Project? {
      random.oneIn(4) ? nil : store.object(Project.self, forPrimaryKey: "p\(random.below(3))")
    }
    guard !tasks.isEmpty, !random.oneIn(3) else {
      let id = (tasks.map(\.id).max() ?? 0) + 1
      let task = TaskItem(id: id, projectID: random.below(5), name: names[random.below(names.count)])
      try store.add(task)
      task.project = project(&random)
      return
    }
    let task = tasks[random.below(tasks.count)]
    switch random.below(8) {
    case 0: try store.delete(task)
    case 1: task.projectID = random.below(5)
    case 2: task.name = names[random.below(names.count)]
    case 3: task.isDone.toggle()
    case 4: task.project = project(&random)
    case 5: task.assignedUser = store.object(User.self, forPrimaryKey: random.below(3))
    case 6: store.object(User.self, forPrimaryKey: random.below(3))?.name = "u\(random.below(3))"
    default:
      // The same key again, in one write.
      let (id, name) = (task.id, task.name)
      try store.delete(task)
      try store.add(TaskItem(id: id, projectID: random.below(5), name: name))
    }
  }
}

/// What a row shows: everything of it that a change may change.
private struct Card: Equatable {
  let text: String

  init(_ task: TaskItem) {
    text =
      "\(task.id) \(task.name) \(task.projectID) \(task.isDone) \(task.project?.name ?? "-") \(task.assignedUser?.name ?? "-")"
  }
}

/// Does to its rows what it is told, as a table view does: first what leaves, then what comes.
private final class Follower: ResultsControllerDelegate {
  var shown: [[Card]] = []
  private(set) var fault: String?
  /// Whether it must hear nothing.
  var isSilent = false
  private var isInside = false
  private var hasSeenRows = false
  private var changes = SectionedChanges()

  func willChangeResults(_ controller: AnyObject) {
    if isInside || isSilent { fault = "will inside a batch, or in a write that is not told" }
    isInside = true
    hasSeenRows = false
    changes = SectionedChanges()
  }

  func didChangeSection(
    _ section: ResultsSection<Card>, controller: AnyObject, index: Int, changeType: ResultsChangeType
  ) {
    if !isInside || hasSeenRows { fault = "a section out of place" }
    if changeType == .delete { changes.deletedSections.insert(index, at: 0) } else { changes.insertedSections.append(index) }
  }

  func didChangeObject(
    _ object: Card?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType
  ) {
    if !isInside { fault = "a row outside a batch" }
    hasSeenRows = true
    switch changeType {
    case .delete:
      if oldPath != newPath { fault = "a deletion with two paths" }
      if object != shown[oldPath.section][oldPath.row] { fault = "another object was deleted" }
      changes.deletions.insert(oldPath, at: 0)
    case .insert:
      if oldPath != newPath { fault = "an insertion with two paths" }
      changes.insertions.append(newPath)
    case .move: changes.moves.append(RowStep(from: oldPath, to: newPath))
    case .update: changes.updates.append(RowStep(from: oldPath, to: newPath))
    }
  }

  func didChangeResults(_ controller: AnyObject) {
    if !isInside { fault = "did without will" }
    isInside = false
    guard let controller = controller as? ResultsController<TaskItem, Card> else { return fault = "another controller" }
    let now = controller.sections.map(Array.init)
    guard let rows = changes.replay(shown, into: now) else { return fault = "the changes do not fit: \(changes)" }
    // Moved rows may look otherwise where they stand now; the others must be right already.
    shown = rows
    if rows != now { fault = "a change was not told: \(changes)" }
  }
}
