import ResultsControl
import Testing
import Vivarium

@Suite struct SectioningTests {
  @Test func sectionsFollowTheFirstSortKeyOrAreRefused() throws {
    let store = try makeStore()
    func make(_ sort: [SortKey], _ sectioning: Sectioning<TaskItem>?) -> StoreError.Code? {
      do throws(StoreError) {
        _ = try ResultsController(request: ResultsRequest<TaskItem>(store: store, sortedBy: sort), sectionedBy: sectioning)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(make([], nil) == .emptySortDescriptors)
    #expect(make(byProject, .by(\.name)) == .invalidKeyPath)
    #expect(make(byProject, .by(["name"]) { $0.name }) == .invalidKeyPath)
    #expect(make(byProject, .by(\.projectID)) == nil)
    #expect(make(byProject, .by(["projectID", "isDone"]) { $0.projectID }) == nil)
    // An order without case has names between others that are written otherwise.
    let folded = [SortKey(\TaskItem.name, folding: .caseInsensitive)]
    #expect(make(folded, .by(\.name)) == .invalidKeyPath)
    #expect(make(folded, .by(["name"]) { $0.name.lowercased() }) == nil)
  }

  @Test func sectionsFollowAPathThroughALink() throws {
    let store = try makeStore([(1, 0, "a"), (2, 0, "b"), (3, 0, "c")])
    let (home, work) = (Project(name: "Home"), Project(name: "Work"))
    try store.write {
      try store.add([home, work])
      try task(store, 1).project = work
      try task(store, 2).project = home
    }
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(
        store: store, sortedBy: [SortKey(PropertyPath("project.name")), SortKey(\TaskItem.name)]),
      sectionedBy: .by(keyPath: "project.name"), mapper: \.name)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    // Nowhere comes last, as what stands behind a null link does, and has a name of its own: none.
    #expect(controller.text == ["Home: b", "Work: a", ": c"])
    try store.write { try task(store, 3).project = work }
    store.refresh()
    #expect(controller.text == ["Home: b", "Work: a c"])
    #expect(recorder.take() == ["will", "delete section  2", "move c [2, 0] [1, 1]", "did"])
  }

  @Test func sectionsAndFiltersFollowWhatTheyReadThroughInverses() throws {
    let store = try makeStore([(1, 0, "x"), (2, 0, "y")])
    let users = [User(id: 1, name: "Ann"), User(id: 2, name: "Bob"), User(id: 3, name: "Cem")]
    try store.write {
      try store.add(users)
      try task(store, 1).assignedUser = users[0]
      try task(store, 2).assignedUser = users[1]
    }
    let request = ResultsRequest<User>(store: store, sortedBy: [SortKey(\User.name)])
    let sectioned = try ResultsController(
      request: request, sectionedBy: .by(["name", "tasks"]) { $0.tasks.isEmpty ? "idle" : "busy" }, mapper: \.name)
    let filtered = try ResultsController(
      request: request, reading: ["tasks.isDone"], mapper: \.name, filter: { $0.tasks.contains { !$0.isDone } })
    func text(_ controller: ResultsController<User, String>) -> [String] {
      controller.sections.map { "\($0.name): \($0.joined(separator: " "))" }
    }
    sectioned.performFetch()
    filtered.performFetch()
    #expect(text(sectioned) == ["busy: Ann Bob", "idle: Cem"] && text(filtered) == [": Ann Bob"])
    try store.write { try task(store, 2).assignedUser = nil }
    store.refresh()
    #expect(text(sectioned) == ["busy: Ann", "idle: Bob Cem"] && text(filtered) == [": Ann"])
    try store.write {
      try task(store, 2).assignedUser = users[1]
      try task(store, 1).isDone = true
    }
    store.refresh()
    #expect(text(sectioned) == ["busy: Ann Bob", "idle: Cem"] && text(filtered) == [": Bob"])
  }

  @Test func sectionsFollowAPathThroughAnInverse() throws {
    let store = try makeStore([(1, 0, "x"), (2, 0, "y")])
    let users = [User(id: 1, name: "Ann"), User(id: 2, name: "Bob"), User(id: 3, name: "Cem")]
    try store.write {
      try store.add(users)
      try task(store, 1).assignedUser = users[0]
      try task(store, 2).assignedUser = users[1]
    }
    let controller = try ResultsController(
      request: ResultsRequest<User>(store: store, sortedBy: [SortKey(PropertyPath("tasks.name")), SortKey(\User.name)]),
      sectionedBy: .by(keyPath: "tasks.name"), mapper: \.name)
    func sections() -> [String] { controller.sections.map { "\($0.name): \($0.joined(separator: " "))" } }
    controller.performFetch()
    #expect(sections() == ["x: Ann", "y: Bob", ": Cem"])
    try store.write { try task(store, 2).assignedUser = users[2] }
    store.refresh()
    #expect(sections() == ["x: Ann", "y: Cem", ": Bob"])
    // Where a row stays at its place, its section may have another name.
    try store.write { try task(store, 1).name = "w" }
    store.refresh()
    #expect(sections() == ["w: Ann", "y: Cem", ": Bob"])
  }

  @Test func whatARequestGetsWrongIsThrown() throws {
    let store = try makeStore()
    // Objects cannot be ordered by objects.
    for path in ["tasks", "nonsense"] {
      #expect(throws: StoreError.self) {
        _ = try ResultsController(
          request: ResultsRequest<User>(store: store, sortedBy: [SortKey(PropertyPath(path))]),
          sectionedBy: .by(keyPath: path))
      }
    }
  }

  @Test func sectionsFollowCodeWithDeclaredInputs() throws {
    let store = try makeStore([(1, 0, "anna"), (2, 0, "alan"), (3, 0, "bert")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.name)]),
      sectionedBy: .by(["name"]) { String($0.name.prefix(1)) }, mapper: \.name)
    controller.performFetch()
    #expect(controller.text == ["a: alan anna", "b: bert"] && controller.indexTitles == ["A", "B"])
    try store.write { try task(store, 1).name = "carl" }
    store.refresh()
    #expect(controller.text == ["a: alan", "b: bert", "c: carl"])
  }

  @Test func numbersAreOrderedAsNumbersAndDescendingOnesBackwards() throws {
    let store = try makeStore([(1, 10, "a"), (2, 9, "b"), (3, 100, "c")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID, ascending: false)]),
      sectionedBy: .by(\.projectID), mapper: \.name)
    controller.performFetch()
    #expect(controller.text == ["100: c", "10: a", "9: b"])
    try store.write { try store.add(TaskItem(id: 4, projectID: 50, name: "d")) }
    store.refresh()
    #expect(controller.text == ["100: c", "50: d", "10: a", "9: b"])
  }

  @Test func declaredSectionsStayWhenTheyAreEmpty() throws {
    let store = try makeStore([(1, 2, "a")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject),
      sectionedBy: .by(\TaskItem.projectID).keeping([1, 2, 3]), mapper: \.name)
    controller.performFetch()
    #expect(controller.text == ["1: ", "2: a", "3: "])
    try store.write { try task(store, 1).projectID = 3 }
    store.refresh()
    #expect(controller.text == ["1: ", "2: ", "3: a"])
  }

  @Test func aRequestIsExecutedInItsOwnStoreOrAnother() throws {
    let (one, two) = (try makeStore([(1, 1, "a"), (2, 1, "b")]), try makeStore([(3, 1, "c")]))
    let request = ResultsRequest<TaskItem>(store: one, sortedBy: byProject) { $0.name != "b" }
    #expect(request.execute().map(\.name) == ["a"] && two.execute(request).map(\.name) == ["c"])
  }
}
