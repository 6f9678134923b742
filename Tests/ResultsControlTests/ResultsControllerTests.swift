import ResultsControl
import Testing
import Vivarium

@Suite struct ResultsControllerTests {
  private func controller(
    _ store: Store, limit: Int? = nil, filter: ((TaskItem) -> Bool)? = nil
  ) throws -> ResultsController<TaskItem, String> {
    try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), limit: limit,
      mapper: \.name, filter: filter)
  }

  @Test func nothingIsToldBeforeTheFetchAndNothingTwiceAfterTwo() throws {
    let store = try makeStore([(1, 1, "a")])
    let controller = try controller(store)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    #expect(controller.numberOfSections == 0 && controller.object(at: RowPath(section: 0, row: 0)) == nil)
    try store.write { try task(store, 1).name = "b" }
    store.refresh()
    controller.performFetch()
    controller.performFetch()
    store.refresh()
    #expect(recorder.take().isEmpty && controller.text == ["1: b"])
    try store.write { try task(store, 1).name = "c" }
    store.refresh()
    #expect(recorder.take() == ["will", "update c [0, 0] [0, 0]", "did"])
  }

  @Test func sectionsAndRowsAreFoundByTheirPaths() throws {
    let store = try makeStore([(1, 2, "c"), (2, 1, "b"), (3, 1, "a")])
    let controller = try controller(store)
    controller.performFetch()
    #expect(controller.text == ["1: a b", "2: c"])
    #expect(controller.numberOfSections == 2 && controller.numberOfObjects(inSection: 0) == 2)
    #expect(controller.numberOfObjects(inSection: 7) == 0 && controller.numberOfObjects == 3)
    #expect(controller.object(at: RowPath(section: 0, row: 1)) == "b")
    #expect(controller.object(at: RowPath(section: 0, row: 2)) == nil)
    #expect(controller.indexPath(of: try task(store, 1)) == RowPath(section: 1, row: 0))
    #expect(controller.indexTitles == ["1", "2"])
  }

  @Test func theDelegateHearsSectionsThenRowsBetweenWillAndDid() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c"), (4, 3, "d")])
    let controller = try controller(store)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    #expect(controller.text == ["1: a b", "2: c", "3: d"])
    try store.write {
      try store.delete(try task(store, 3))
      try store.add(TaskItem(id: 5, projectID: 4, name: "e"))
      try task(store, 2).projectID = 3
      try task(store, 1).isDone = true
    }
    store.refresh()
    #expect(
      recorder.take() == [
        "will", "delete section 2 1", "insert section 4 2", "delete c [1, 0] [1, 0]", "insert e [2, 0] [2, 0]",
        "move b [0, 1] [1, 0]", "update a [0, 0] [0, 0]", "did",
      ])
    #expect(controller.text == ["1: a", "3: b d", "4: e"])
  }

  @Test func anObjectThatComesBackToItsSectionIsInIt() throws {
    // It used to stay in the section that it had been in between.
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 2, "c")])
    let controller = try controller(store)
    controller.performFetch()
    try store.write { try task(store, 2).projectID = 2 }
    store.refresh()
    #expect(controller.text == ["1: a", "2: b c"])
    try store.write { try task(store, 2).projectID = 1 }
    store.refresh()
    #expect(controller.text == ["1: a b", "2: c"])
    let recorder = Recorder<String>()
    controller.delegate = recorder
    try store.write {
      try task(store, 2).projectID = 2
      try task(store, 2).projectID = 1
    }
    store.refresh()
    #expect(!recorder.take().contains { $0.hasPrefix("move") })
  }

  @Test func severalActionsInOneWriteAreTheirNetEffect() throws {
    let store = try makeStore([(1, 1, "a")])
    let controller = try controller(store)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    try store.write {
      let added = TaskItem(id: 2, projectID: 1, name: "x")
      try store.add(added)
      added.name = "b"
      let passing = TaskItem(id: 3, projectID: 9, name: "y")
      try store.add(passing)
      try store.delete(passing)
    }
    store.refresh()
    #expect(recorder.take() == ["will", "insert b [0, 1] [0, 1]", "did"])
  }

  @Test func anObjectThatIsReplacedUnderItsKeyIsOneRowThatWentAndOneThatCame() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let controller = try controller(store)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    #expect(controller.text == ["1: a b"])
    try store.write {
      try store.delete(try task(store, 1))
      try store.add(TaskItem(id: 1, projectID: 2, name: "c"))
    }
    store.refresh()
    #expect(
      recorder.take() == [
        "will", "insert section 2 1", "delete a [0, 0] [0, 0]", "insert c [1, 0] [1, 0]", "did",
      ])
    #expect(controller.text == ["1: b", "2: c"])
  }

  @Test func rowsBesideAChangeAreDrawnAgainWhereTheyDependOnIt() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b"), (3, 1, "c"), (4, 2, "d")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), neighbours: [-1],
      mapper: \.name)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    try store.write { try task(store, 2).isDone = true }
    store.refresh()
    #expect(recorder.take() == ["will", "update b [0, 1] [0, 1]", "update c [0, 2] [0, 2]", "did"])
    try store.write { try store.delete(try task(store, 1)) }
    store.refresh()
    #expect(recorder.take() == ["will", "delete - [0, 0] [0, 0]", "update b [0, 1] [0, 0]", "did"])
    try store.write { try task(store, 3).isDone = true }
    store.refresh()
    #expect(recorder.take() == ["will", "update c [0, 1] [0, 1]", "did"])
  }

  @Test func whatTheInterfaceWritesIsShownAndNotTold() throws {
    let configuration = makeConfiguration()
    let (here, elsewhere) = (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
    try here.write { for (id, name) in [(1, "a"), (2, "b"), (3, "c")] { try here.add(TaskItem(id: id, projectID: 1, name: name)) } }
    let controller = try controller(here)
    let (recorder, other) = (Recorder<String>(), Recorder<String>())
    controller.delegate = recorder
    let second = try self.controller(here)
    second.delegate = other
    controller.performFetch()
    second.performFetch()
    #expect(controller.text == ["1: a b c"])
    // What another wrote before is told before the write, and not lost in it.
    try elsewhere.write { try task(elsewhere, 3).isDone = true }
    try controller.writeWithoutTelling { store in
      #expect(recorder.take() == ["will", "update c [0, 2] [0, 2]", "did"])
      try task(store, 1).name = "z"
    }
    #expect(controller.text == ["1: b c z"])
    here.refresh()
    #expect(recorder.take().isEmpty && other.take().contains { $0.hasPrefix("move z") })
    try elsewhere.write { try elsewhere.delete(try task(elsewhere, 1)) }
    here.refresh()
    #expect(recorder.take() == ["will", "delete z [0, 2] [0, 2]", "did"] && controller.text == ["1: b c"])
    #expect(throws: StoreError.self) {
      try controller.writeWithoutTelling { store in
        try task(store, 2).name = "x"
        throw StoreError(.cancelled, "No.")
      }
    }
    here.refresh()
    #expect(controller.text == ["1: b c"] && recorder.take().isEmpty)
  }

  @Test func whatIsWrittenSilentlyIsShownAndNotTold() throws {
    let configuration = makeConfiguration()
    let (here, elsewhere) = (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
    try here.write { for (id, name) in [(1, "a"), (2, "b"), (3, "c")] { try here.add(TaskItem(id: id, projectID: 1, name: name)) } }
    let (controller, tested) = (try controller(here), try self.controller(here))
    let (recorder, other) = (Recorder<String>(), Recorder<String>())
    (controller.delegate, tested.delegate) = (recorder, other)
    tested.updateFilter { !$0.isDone }
    controller.performFetch()
    tested.performFetch()
    try here.write(silently: true) {
      try task(here, 1).name = "z"
      try task(here, 2).isDone = true
      try here.add(TaskItem(id: 4, projectID: 1, name: "d"))
    }
    #expect(controller.text == ["1: b c d z"] && tested.text == ["1: c d z"])
    here.refresh()
    #expect(recorder.take().isEmpty && other.take().isEmpty)
    // What comes next leads on from there.
    try elsewhere.write {
      try elsewhere.delete(try task(elsewhere, 1))
      try task(elsewhere, 2).isDone = false
    }
    here.refresh()
    #expect(controller.text == ["1: b c d"] && tested.text == ["1: b c d"])
    #expect(recorder.take() == ["will", "delete z [0, 3] [0, 3]", "update b [0, 0] [0, 0]", "did"])
    #expect(other.take() == ["will", "delete z [0, 2] [0, 2]", "insert b [0, 0] [0, 0]", "did"])
    // Of a write in another context it hears with the next change.
    try elsewhere.write(silently: true) { try elsewhere.delete(try task(elsewhere, 3)) }
    try elsewhere.write { try task(elsewhere, 4).name = "e" }
    here.refresh()
    #expect(controller.text == ["1: b e"] && tested.text == ["1: b e"])
    #expect(recorder.take() == ["will", "update e [0, 1] [0, 1]", "did"] && other.take() == ["will", "update e [0, 1] [0, 1]", "did"])
  }

  @Test func aSnapshotNamesWhatIsShown() throws {
    let store = try makeStore([(1, 1, "a"), (2, 2, "b"), (3, 2, "c")])
    let controller = try controller(store) { $0.name != "b" }
    #expect(controller.snapshot.sections.isEmpty)
    controller.performFetch()
    let snapshot = controller.snapshot
    #expect(snapshot.sections.map(\.key) == [.int(1), .int(2)])
    #expect(try snapshot.sections.map(\.objects) == [[task(store, 1).reference.id], [task(store, 3).reference.id]])
    // A value: it stays what it was.
    try store.write { try store.delete(try task(store, 1)) }
    store.refresh()
    #expect(snapshot.sections.count == 2 && controller.snapshot.sections.count == 1)
  }

  @Test func changesThroughARelationshipAreNoticed() throws {
    // A user is renamed while a task is given to it: one write, and both lists hear of it.
    let store = try makeStore()
    let tasks = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.name)]), mapper: { $0.assignedUser?.name ?? "-" })
    let users = try ResultsController(
      request: ResultsRequest<User>(store: store, sortedBy: [SortKey(\User.id)]), mapper: \.name)
    let (taskRecorder, userRecorder) = (Recorder<String>(), Recorder<String>())
    tasks.delegate = taskRecorder
    users.delegate = userRecorder
    let user = User(id: 123, name: "John")
    try store.write { try store.addNotified(user) }
    tasks.performFetch()
    users.performFetch()
    try store.write {
      let task = TaskItem(id: 1)
      user.name = "Steven"
      task.assignedUser = user
      try store.addNotified(task)
    }
    store.refresh()
    #expect(userRecorder.take() == ["will", "update Steven [0, 0] [0, 0]", "did"])
    #expect(taskRecorder.take() == ["will", "insert Steven [0, 0] [0, 0]", "did"])
    try store.write { user.name = "Stephen" }
    store.refresh()
    #expect(taskRecorder.take() == ["will", "update Stephen [0, 0] [0, 0]", "did"])
  }

  @Test func aMapperRunsOncePerChange() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    var mapped: [String] = []
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject),
      mapper: { task -> String in
        mapped.append(task.name)
        return task.name
      })
    controller.performFetch()
    #expect(mapped.isEmpty)
    for _ in 0..<3 { _ = controller.text }
    #expect(mapped == ["a", "b"])
    try store.write { try task(store, 2).isDone = true }
    store.refresh()
    for _ in 0..<3 { _ = controller.text }
    #expect(mapped == ["a", "b", "b"])
  }

  @Test func withoutAMapperRowsAreTheLiveObjects() throws {
    let store = try makeStore([(1, 1, "a")])
    let controller = try ResultsController(request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject))
    controller.performFetch()
    #expect(controller.numberOfSections == 1 && controller.sections[0].name == "")
    #expect(controller.object(at: RowPath(section: 0, row: 0)) == (try task(store, 1)))
  }

  @Test func anotherFilterIsToldAsChanges() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "bb"), (3, 2, "cc"), (4, 3, "d")])
    let controller = try controller(store) { $0.name.count == 1 }
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    #expect(controller.text == ["1: a", "3: d"])
    controller.updateFilter { $0.name.count == 2 }
    #expect(
      recorder.take() == [
        "will", "delete section 3 1", "insert section 2 1", "delete d [1, 0] [1, 0]", "delete a [0, 0] [0, 0]",
        "insert bb [0, 0] [0, 0]", "insert cc [1, 0] [1, 0]", "did",
      ])
    try store.write {
      try task(store, 1).name = "aa"
      try task(store, 2).name = "b"
    }
    store.refresh()
    #expect(controller.text == ["1: aa", "2: cc"])
    controller.updateFilter(nil)
    #expect(controller.text == ["1: aa b", "2: cc", "3: d"] && recorder.take().last == "did")
  }

  @Test func aFilterOfEveryRowIsAskedInTheOrderOfTheObjectsKeysAndOnceEach() throws {
    let store = try makeStore([(1, 3, "a"), (2, 1, "b"), (3, 2, "c"), (4, 1, "d")])
    var asked: [Int64] = []
    let controller = try controller(store) {
      asked.append($0._$key)
      return $0.name != "c"
    }
    controller.performFetch()
    #expect(controller.text == ["1: b d", "3: a"] && asked.count == 4 && asked == asked.sorted())
    asked = []
    controller.updateFilter {
      asked.append($0._$key)
      return $0.name != "d"
    }
    #expect(controller.text == ["1: b", "2: c", "3: a"] && asked.count == 4 && asked == asked.sorted())
  }

  @Test func aFilterMayReadRelationships() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let user = User(id: 1, name: "John")
    try store.write {
      try store.add(user)
      try task(store, 2).assignedUser = user
    }
    let controller = try controller(store) { $0.assignedUser?.name == "John" }
    controller.performFetch()
    #expect(controller.text == ["1: b"])
    try store.write { user.name = "Jane" }
    store.refresh()
    #expect(controller.text == [])
  }

  @Test func aWindowShowsMoreWhenAsked() throws {
    let store = try makeStore((1...9).map { ($0, ($0 - 1) / 3, "\($0)") })
    let controller = try controller(store, limit: 4)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    #expect(controller.text == ["0: 1 2 3", "1: 4"])
    controller.showMore(3)
    #expect(controller.text == ["0: 1 2 3", "1: 4 5 6", "2: 7"])
    #expect(recorder.take() == ["will", "insert section 2 2", "insert 5 [1, 1] [1, 1]", "insert 6 [1, 2] [1, 2]", "insert 7 [2, 0] [2, 0]", "did"])
    try store.write { try store.delete(try task(store, 1)) }
    store.refresh()
    #expect(controller.text == ["0: 2 3", "1: 4 5 6", "2: 7 8"])
    controller.showMore(nil)
    #expect(controller.numberOfObjects == 8)
    // Nor does a write that is not told bring the limit back.
    try controller.writeWithoutTelling { store in try task(store, 2).name = "two" }
    #expect(controller.text == ["0: 3 two", "1: 4 5 6", "2: 7 8 9"])
  }

  @Test func ordinaryWritesOfAnybodyCount() throws {
    let configuration = makeConfiguration()
    let (here, elsewhere) = (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
    let controller = try controller(here)
    controller.performFetch()
    try elsewhere.write { try elsewhere.add(TaskItem(id: 1, projectID: 1, name: "a")) }
    here.refresh()
    #expect(controller.text == ["1: a"])
  }

  @Test func whatIsCommittedBetweenFetchAndFirstTurnIsToldOnce() throws {
    let configuration = makeConfiguration()
    let (here, elsewhere) = (try Store(configuration, isolation: nil), try Store(configuration, isolation: nil))
    try here.write { for i in 1...3 { try here.add(TaskItem(id: i, projectID: 1, name: "\(i)")) } }
    here.refresh()
    let controller = try controller(here)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    try elsewhere.write {
      try elsewhere.delete(try task(elsewhere, 1))
      try task(elsewhere, 3).isDone = true
      try elsewhere.add(TaskItem(id: 4, projectID: 2, name: "4"))
    }
    here.refresh()
    here.refresh()
    #expect(
      recorder.take() == [
        "will", "insert section 2 1", "delete - [0, 0] [0, 0]", "insert 4 [1, 0] [1, 0]", "update 3 [0, 2] [0, 1]", "did",
      ])
  }

  @Test func insideAnOpenWriteRowsStayWhereTheyWereTold() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let controller = try controller(store)
    controller.performFetch()
    try store.write {
      try store.delete(try task(store, 1))
      #expect(controller.numberOfObjects == 2 && controller.object(at: RowPath(section: 0, row: 1)) == "b")
    }
    store.refresh()
    #expect(controller.text == ["1: b"])
  }

  @Test func wholeBatchesReplay() throws {
    let store = try makeStore([(1, 1, "a"), (2, 2, "b")])
    let controller = try controller(store)
    controller.performFetch()
    var shown = controller.sections.map(Array.init)
    controller.onChange { controller, changes in
      let now = controller.sections.map(Array.init)
      shown = changes.replay(shown, into: now) ?? []
      #expect(shown == now)
    }
    try store.write {
      try task(store, 1).projectID = 3
      try store.add(TaskItem(id: 3, projectID: 1, name: "z"))
    }
    store.refresh()
    #expect(shown == [["z"], ["b"], ["a"]])
  }

  @Test func whatWasMappedInAWriteThatIsCancelledIsForgotten() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), mapper: \.name)
    controller.performFetch()
    try store.beginWrite()
    try task(store, 1).name = "not committed"
    #expect(controller.text == ["1: not committed b"])
    store.cancelWrite()
    #expect(controller.text == ["1: a b"])
    controller.stop()
  }

  @Test func allOfAWindowMayBeAskedForByAnyNumber() throws {
    let store = try makeStore((0..<9).map { ($0, 1, "\($0)") })
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), limit: 2, mapper: \.name)
    controller.performFetch()
    controller.showMore(.max)
    #expect(controller.numberOfObjects == 9)
    controller.showMore(.min)
    controller.showMore(nil)
    #expect(controller.numberOfObjects == 9)
    controller.stop()
  }

  @Test func afterStopNothingIsToldThoughAnotherFilterIsSet() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), mapper: \.name)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    controller.stop()
    try store.write { try store.delete(try task(store, 1)) }
    store.refresh()
    controller.updateFilter { $0.name == "b" }
    controller.showMore(1)
    #expect(recorder.take().isEmpty && controller.numberOfObjects == 2)
  }
}
