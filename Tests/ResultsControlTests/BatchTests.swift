import ResultsControl
import Testing
import Vivarium

/// A delegate hears of one batch after the other, whatever it does while it hears.
@Suite struct BatchTests {
  /// Does something at the first row that it hears of.
  private final class Busybody: ResultsControllerDelegate {
    var action: (() -> Void)?
    private(set) var lines: [String] = []

    init(_ action: @escaping () -> Void) { self.action = action }

    func willChangeResults(_ controller: AnyObject) { lines.append("will") }
    func didChangeObject(
      _ object: String?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType
    ) {
      lines.append("\(changeType) \(object ?? "-")")
      let action = action
      self.action = nil
      action?()
    }
    func didChangeResults(_ controller: AnyObject) { lines.append("did") }
    func resultsFailed(_ error: StoreError, controller: AnyObject) { lines.append("failed \(error.code.rawValue)") }
  }

  @Test func aDelegateThatWritesHearsOfOthersAfterItsBatch() throws {
    let store = try makeStore([(1, 1, "a")])
    let other = try Store(store.configuration, isolation: nil)
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), mapper: \.name)
    let delegate = Busybody {
      do {
        try other.write { try other.add(TaskItem(id: 4, projectID: 1, name: "d")) }
        try store.write { try store.add(TaskItem(id: 5, projectID: 1, name: "e")) }
      } catch {
        Issue.record(error)
      }
    }
    controller.delegate = delegate
    controller.performFetch()
    try store.write {
      for (id, name) in [(2, "b"), (3, "c")] { try store.add(TaskItem(id: id, projectID: 1, name: name)) }
    }
    store.refresh()
    store.refresh()
    #expect(delegate.lines == ["will", "insert b", "insert c", "did", "will", "insert d", "insert e", "did"])
    #expect(controller.numberOfObjects == 5)
    controller.stop()
  }

  @Test func aWriteOfTheInterfaceTellsWhatWaitsInOneBatchAfterTheOther() throws {
    let store = try makeStore([(1, 1, "a")])
    let other = try Store(store.configuration, isolation: nil)
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), mapper: \.name)
    let delegate = Busybody {
      do {
        for (id, name) in [(4, "d"), (5, "e")] { try store.write { try store.add(TaskItem(id: id, projectID: 1, name: name)) } }
      } catch {
        Issue.record(error)
      }
    }
    controller.delegate = delegate
    controller.performFetch()
    try other.write { for (id, name) in [(2, "b"), (3, "c")] { try other.add(TaskItem(id: id, projectID: 1, name: name)) } }
    // What the other has written is told before the interface writes, and the delegate writes while it hears.
    try controller.writeWithoutTelling { try task($0, 1).name = "z" }
    for _ in 0..<2 { store.refresh() }
    var isOpen = false
    for line in delegate.lines where line == "will" || line == "did" {
      #expect((line == "will") != isOpen, "\(delegate.lines)")
      isOpen = line == "will"
    }
    #expect(delegate.lines.filter { $0.hasPrefix("insert") } == ["insert b", "insert c", "insert d", "insert e"])
    #expect(controller.numberOfObjects == 5 && controller.sections.map(Array.init) == [["b", "c", "d", "e", "z"]])
    controller.stop()
  }

  @Test func aFileThatANewerProgramMigratedIsToldAfterTheBatch() throws {
    let store = try makeStore([(1, 1, "a")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), mapper: \.name)
    let delegate = Busybody {
      do {
        var newer = store.configuration
        newer.schemaVersion = 1
        newer.migration = { _, _ in }
        _ = try Store(newer, isolation: nil)
        try store.write { try store.add(TaskItem(id: 5, projectID: 1, name: "e")) }
      } catch StoreError.Code.newerSchema {
        // What the write met.
      } catch {
        Issue.record(error)
      }
    }
    controller.delegate = delegate
    controller.performFetch()
    try store.write {
      for (id, name) in [(2, "b"), (3, "c")] { try store.add(TaskItem(id: id, projectID: 1, name: name)) }
    }
    for _ in 0..<3 { store.refresh() }
    #expect(delegate.lines == ["will", "insert b", "insert c", "did", "failed newerSchema"])
    #expect(controller.numberOfObjects == 3)
    controller.stop()
  }

  @Test func anotherFilterInsideABatchIsToldAfterIt() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), mapper: \.name)
    let delegate = Busybody { controller.updateFilter { $0.name != "a" } }
    controller.delegate = delegate
    controller.performFetch()
    try store.write { for id in 3...4 { try store.add(TaskItem(id: id, projectID: 1, name: "c\(id)")) } }
    store.refresh()
    #expect(delegate.lines == ["will", "insert c3", "insert c4", "did", "will", "delete -", "did"])
    delegate.action = nil
    controller.stop()
  }

  /// A row that the filter left out has another section in the store already, and not yet here.
  @Test func anotherFilterRightAfterAWriteSplitsNoSection() throws {
    let store = try makeStore([(1, 2, "a"), (2, 2, "b"), (3, 2, "y"), (4, 2, "z")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), mapper: \.name,
      filter: { $0.name < "c" })
    controller.performFetch()
    #expect(controller.text == ["2: a b"])
    try store.write { try task(store, 3).projectID = 1 }
    controller.updateFilter(nil)
    #expect(controller.text == ["1: y", "2: a b z"])
    store.refresh()
    #expect(controller.text == ["1: y", "2: a b z"])
    controller.stop()
  }

  @Test func moreRowsRightAfterAWriteSplitNoSection() throws {
    let store = try makeStore([(1, 2, "a"), (2, 2, "b"), (3, 2, "y"), (4, 2, "z")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), limit: 2, mapper: \.name)
    controller.performFetch()
    try store.write { try task(store, 3).projectID = 1 }
    controller.showMore(nil)
    store.refresh()
    #expect(controller.text == ["1: y", "2: a b z"])
    controller.stop()
  }

  @Test func aWriteOfTheInterfaceInsideABatchIsRefused() throws {
    let store = try makeStore([(1, 1, "a")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), mapper: \.name)
    var refused: StoreError.Code?
    let delegate = Busybody {
      do { try controller.writeWithoutTelling { try task($0, 1).name = "z" } } catch {
        refused = (error as? StoreError)?.code
      }
    }
    controller.delegate = delegate
    controller.performFetch()
    try store.write { for id in 2...3 { try store.add(TaskItem(id: id, projectID: 1, name: "b\(id)")) } }
    store.refresh()
    #expect(refused == .writeInBatch && delegate.lines == ["will", "insert b2", "insert b3", "did"])
    try controller.writeWithoutTelling { try task($0, 1).name = "z" }
    #expect(controller.sections.map(Array.init) == [["b2", "b3", "z"]])
    delegate.action = nil
    controller.stop()
  }
}
