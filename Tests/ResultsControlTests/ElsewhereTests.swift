import Dispatch
import ResultsControl
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Rows that are mapped on another thread.
@MainActor @Suite(.timeLimit(.minutes(15))) struct ElsewhereTests {
  /// Holds the mapper up until it is let go on, and counts. Any thread.
  private final class Gate: Sendable {
    let names = Mutex<[String]>([])
    let isOpen = Mutex(true)
    let opened = Signal()
    let reached = AsyncSignal()
    let onMain = Mutex(0)

    func map(_ task: Frozen<TaskItem>) -> String {
      if isOnMainQueue { onMain.withLock { $0 += 1 } }
      names.withLock { $0.append(task.name) }
      if !isOpen.withLock({ $0 }) {
        reached.fire()
        _ = opened.wait()
      }
      return "\(task.name)/\(task.project?.name ?? "-")"
    }

    private var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: Gate.key) != nil }
    private static let key: DispatchSpecificKey<Bool> = {
      let key = DispatchSpecificKey<Bool>()
      DispatchQueue.main.setSpecific(key: key, value: true)
      return key
    }()
  }

  private func makeStore(_ tasks: [(Int, Int, String)]) throws -> Store {
    let store = try Store(makeConfiguration())
    try store.write {
      let home = Project(name: "Home")
      try store.add(home)
      for (id, project, name) in tasks {
        let task = TaskItem(id: id, projectID: project, name: name)
        try store.add(task)
        task.project = home
      }
    }
    store.refresh()
    return store
  }

  private func controller(_ store: Store, _ gate: Gate) throws -> ResultsController<TaskItem, String> {
    try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID),
      mappingElsewhere: { gate.map($0) })
  }

  @Test func everyRowIsMappedElsewhereBeforeItIsShownAndOncePerChange() async throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c")])
    let gate = Gate()
    let controller = try controller(store, gate)
    let recorder = Announcer()
    controller.delegate = recorder
    #expect(controller.numberOfSections == 0)
    await controller.fetch()
    #expect(controller.text == ["1: a/Home b/Home", "2: c/Home"] && recorder.lines.isEmpty)
    try store.write { store.object(TaskItem.self, forPrimaryKey: 2)?.name = "bb" }
    await recorder.batch()
    #expect(recorder.lines == ["will", "update bb/Home [0, 1] [0, 1]", "did"])
    for _ in 0..<3 { _ = controller.text }
    #expect(gate.names.withLock { $0 } == ["a", "b", "c", "bb"] && gate.onMain.withLock { $0 } == 0)
    controller.stop()
  }

  @Test func whatHappensWhileRowsAreMappedIsOneChangeOfWhatWasTold() async throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c")])
    let gate = Gate()
    let controller = try controller(store, gate)
    let recorder = Announcer()
    controller.delegate = recorder
    await controller.fetch()
    gate.isOpen.withLock { $0 = false }
    try store.write { store.object(TaskItem.self, forPrimaryKey: 1)?.name = "aa" }
    await gate.reached.wait()
    // The mapper is at work: nothing is told, and what is shown stays.
    for number in 4..<10 {
      try store.write { try store.add(TaskItem(id: number, projectID: 3, name: "\(number)")) }
    }
    try store.write { try store.delete(store.objects(TaskItem.self).where { $0.projectID == 2 }) }
    store.refresh()
    #expect(controller.text == ["1: a/Home b/Home", "2: c/Home"] && recorder.lines.isEmpty)
    // Asked for meanwhile: it comes when its turn does.
    controller.updateFilter { $0.id != 5 }
    gate.isOpen.withLock { $0 = true }
    gate.opened.fire()
    while controller.numberOfObjects != 7 { await recorder.batch() }
    #expect(controller.text == ["1: aa/Home b/Home", "3: 4/- 6/- 7/- 8/- 9/-"])
    #expect(recorder.lines.first == "will" && recorder.lines[1] == "update aa/Home [0, 0] [0, 0]")
    #expect(recorder.lines.count { $0 == "will" } <= 3 && recorder.isBracketed)
    controller.stop()
  }

  @Test func anotherFilterThatAnObserverOfTheSameCommitAsksForLosesNoStep() async throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c"), (4, 2, "hidden")])
    let gate = Gate()
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID),
      mappingElsewhere: { gate.map($0) }, filter: { $0.name != "hidden" })
    let recorder = Announcer()
    controller.delegate = recorder
    let first = try #require(store.object(TaskItem.self, forPrimaryKey: 1))
    // Observers of objects are told before those of results.
    let token = first.observe { _ in controller.updateFilter(nil) }
    await controller.fetch()
    let before = controller.text
    try store.write {
      first.name = "aa"
      try store.add(TaskItem(id: 5, projectID: 2, name: "e"))
    }
    while controller.numberOfObjects != 5 { await recorder.batch() }
    #expect(before == ["1: a/Home b/Home", "2: c/Home"])
    let inserted = recorder.lines.filter { $0.hasPrefix("insert") }.count
    #expect(inserted == 2 && recorder.isBracketed, "\(recorder.lines)")
    token.stop()
    controller.stop()
  }

  @Test func aWriteOfTheInterfaceOvertakesTheMapper() async throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let gate = Gate()
    let controller = try controller(store, gate)
    let recorder = Announcer()
    controller.delegate = recorder
    await controller.fetch()
    gate.isOpen.withLock { $0 = false }
    try store.write { store.object(TaskItem.self, forPrimaryKey: 1)?.name = "aa" }
    await gate.reached.wait()
    gate.isOpen.withLock { $0 = true }
    // What waits for its rows is told first, mapped here.
    try controller.writeWithoutTelling { store in store.object(TaskItem.self, forPrimaryKey: 2)?.name = "0" }
    #expect(recorder.lines == ["will", "update aa/Home [0, 0] [0, 0]", "did"])
    #expect(controller.text == ["1: 0/Home aa/Home"])
    gate.opened.fire()
    try store.write { store.object(TaskItem.self, forPrimaryKey: 1)?.name = "ab" }
    await recorder.batch()
    await recorder.batch()
    #expect(controller.text == ["1: 0/Home ab/Home"] && recorder.lines.count == 6)
    controller.stop()
  }

  @Test func nothingIsToldOnceItIsStoppedThoughRowsAreBeingMapped() async throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let gate = Gate()
    let controller = try controller(store, gate)
    let recorder = Announcer()
    controller.delegate = recorder
    await controller.fetch()
    gate.isOpen.withLock { $0 = false }
    try store.write { store.object(TaskItem.self, forPrimaryKey: 1)?.name = "aa" }
    await gate.reached.wait()
    controller.updateFilter { $0.id == 1 }
    controller.stop()
    gate.isOpen.withLock { $0 = true }
    gate.opened.fire()
    // The mapper's answer has had its turn when another one that was asked for later has.
    let second = try self.controller(store, gate)
    await second.fetch()
    #expect(recorder.lines.isEmpty && controller.text == ["1: a/Home b/Home"])
    #expect(second.text == ["1: aa/Home b/Home"])
    second.stop()
  }

  @Test func aStoreWithoutAContextMapsHere() throws {
    let store = try Store(makeConfiguration(), isolation: nil)
    try store.write { try store.add(TaskItem(id: 1, projectID: 1, name: "a")) }
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), mappingElsewhere: { $0.name })
    controller.performFetch(isolation: nil)
    #expect(controller.object(at: RowPath(section: 0, row: 0)) == "a")
    try store.write {
      store.object(TaskItem.self, forPrimaryKey: 1)?.name = "b"
      // What is not committed is not shown.
      #expect(controller.object(at: RowPath(section: 0, row: 0)) == "a")
    }
    store.refresh()
    #expect(controller.object(at: RowPath(section: 0, row: 0)) == "b")
    controller.stop()
  }
}

/// Writes down what it hears, and says when a batch is over.
@MainActor private final class Announcer: @MainActor ResultsControllerDelegate {
  private(set) var lines: [String] = []
  private let batches = AsyncSignal()

  func batch() async { await batches.wait() }

  var isBracketed: Bool {
    lines.split(separator: "did", omittingEmptySubsequences: true).allSatisfy { batch in
      batch.first == "will" && !batch.dropFirst().contains("will")
    }
  }

  func willChangeResults(_ controller: AnyObject) { lines.append("will") }

  func didChangeObject(
    _ object: String?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType
  ) {
    lines.append("\(changeType) \(object ?? "-") \(oldPath) \(newPath)")
  }

  func didChangeResults(_ controller: AnyObject) {
    lines.append("did")
    batches.fire()
  }
}
