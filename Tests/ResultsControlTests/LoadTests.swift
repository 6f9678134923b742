import ResultsControl
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct LoadTests {
  @Test func tenControllersUnderLoadHearWholeBatchesInOrder() throws {
    let configuration = makeConfiguration()
    let store = try Store(configuration, isolation: nil)
    let controllers = try (0..<10).map { number in
      try ResultsController(
        request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID),
        limit: number == 0 ? nil : number * 5, mapper: \.name)
    }
    let recorders = controllers.map { controller in
      let recorder = Recorder<String>()
      controller.delegate = recorder
      controller.performFetch()
      return recorder
    }
    let writers = (0..<2).map { writer in
      onThread {
        do {
          let store = try Store(configuration, isolation: nil)
          for step in 0..<60 {
            try store.write {
              try store.add(TaskItem(id: writer * 1_000 + step, projectID: step % 7, name: "\(step)"))
              if step >= 10 { try store.delete(try task(store, writer * 1_000 + step - 10)) }
            }
          }
        } catch { Issue.record(error) }
      }
    }
    while writers.contains(where: { $0.count == 0 }) { store.refresh() }
    store.refresh()
    let all = controllers[0].names
    #expect(all.count == 20)
    for (number, (controller, recorder)) in zip(controllers, recorders).enumerated() {
      let lines = recorder.take()
      var isInside = false
      for line in lines {
        #expect(isInside == (line != "will"), "\(lines)")
        isInside = line != "did"
      }
      #expect(!isInside && lines.contains("did"))
      // Each shows the beginning of what the one without a limit shows.
      #expect(controller.names == Array(all.prefix(number == 0 ? .max : number * 5)))
      controller.stop()
    }
  }

  @Test func aChangeCostsTheSameWhateverIsShown() throws {
    // The first of each: what a first change has to make once is not counted.
    func cost(_ count: Int) throws -> [Int] {
      let store = try makeStore((0..<count).map { ($0, $0 / 20, "\($0)") })
      var (mapped, filtered) = (0, 0)
      let controller = try ResultsController(
        request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID),
        mapper: { task in
          mapped += 1
          return task.name
        },
        filter: { _ in
          filtered += 1
          return true
        })
      let recorder = Recorder<String>()
      controller.delegate = recorder
      controller.performFetch()
      store.refresh()
      try store.write { try task(store, 7).isDone = true }
      store.refresh()
      (mapped, filtered) = (0, 0)
      _ = recorder.take()
      let (before, evaluations) = (store.notifierWork, store.evaluationCount)
      try store.write { try task(store, 8).name = "x" }
      store.refresh()
      let after = store.notifierWork
      #expect(recorder.take().count == 3)
      controller.stop()
      return [
        mapped, filtered, store.evaluationCount - evaluations, after.evaluations - before.evaluations,
        after.steps - before.steps, after.rebuilds - before.rebuilds, after.rowsTested - before.rowsTested,
      ]
    }
    let (few, many) = (try cost(100), try cost(5_000))
    #expect(few == many && many[0] == 1 && many[1] == 1 && many[3] == 0 && many[5] == 0)
  }

  @Test func findingAnObjectReadsFewPlacesInWhateverOrder() throws {
    let count = 4_000
    let store = try makeStore((0..<count).map { ($0, $0 % 40, "\(($0 * 7) % 1_000)") })
    let orders: [[SortKey]] = [
      byProject, [SortKey(\TaskItem.id, ascending: false)], [SortKey(\TaskItem.isDone), SortKey(\TaskItem.name)],
    ]
    for (number, order) in orders.enumerated() {
      let sectioning = number == 0 ? Sectioning<TaskItem>.by(\.projectID) : nil
      let filter: ((TaskItem) -> Bool)? = number == 2 ? { $0.id != 7 } : nil
      let controller = try ResultsController(
        request: ResultsRequest<TaskItem>(store: store, sortedBy: order), sectionedBy: sectioning, mapper: \.name,
        filter: filter)
      controller.performFetch()
      // As it was read, and as the notifier keeps it after a change.
      for round in 0..<2 {
        for section in [0, controller.numberOfSections - 1] {
          let path = RowPath(section: section, row: controller.numberOfObjects(inSection: section) / 2)
          let id = controller.snapshot.sections[section].objects[path.row]
          let found = try #require(store.resolve(ObjectReference<TaskItem>(key: id.key.rawValue, in: store)))
          let before = store.placesRead
          #expect(controller.indexPath(of: found) == path)
          #expect(store.placesRead - before > 0 && store.placesRead - before < 20)
        }
        try store.write { try task(store, 100 + round).isDone.toggle() }
        store.refresh()
      }
      if number == 2 { #expect(try controller.indexPath(of: task(store, 7)) == nil) }
      controller.stop()
    }
  }

  @Test func anObjectIsFoundWhereItIsShownThoughTheStoreIsAhead() throws {
    let store = try makeStore((0..<100).map { ($0, $0 / 10, "\($0)") })
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject) { $0.isDone == false }, sectionedBy: .by(\.projectID),
      mapper: \.name)
    controller.performFetch()
    let moved = try task(store, 55)
    let path = try #require(controller.indexPath(of: moved))
    try store.beginWrite()
    // Not told yet: it is shown where it was, and so are those around it.
    moved.projectID = 0
    for id in 50..<60 where id != 55 { try task(store, id).isDone = true }
    let gone = try task(store, 70)
    try store.delete(gone)
    #expect(try controller.indexPath(of: moved) == path && controller.indexPath(of: task(store, 54))?.section == 5)
    #expect(controller.indexPath(of: gone)?.section == 7)
    try store.commitWrite()
    store.refresh()
    #expect(controller.indexPath(of: moved)?.section == 0 && controller.indexPath(of: gone) == nil)
    #expect(try controller.indexPath(of: task(store, 54)) == nil)
    let before = store.placesRead
    #expect(try controller.indexPath(of: task(store, 58)) == nil && store.placesRead - before < 20)
    controller.stop()
  }
}
