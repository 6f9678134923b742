import Foundation
import ResultsControl
import Testing
import Vivarium

@Suite struct NotifiedWriteTests {
  /// What a center was told, by name.
  private final class Listener {
    let center = NotificationCenter()
    private(set) var heard: [String] = []
    private var tokens: [any NSObjectProtocol] = []

    func listen(to name: String) {
      nonisolated(unsafe) let me = self  // posts come on the test's own thread
      tokens.append(
        center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { note in
          guard let post = note.userInfo?[ObjectPost.key] as? ObjectPost else { return }
          me.heard.append("\(post.action) \(name) \(post.values["name"].map { "\($0)" } ?? "-")")
        })
    }

    deinit { for token in tokens { center.removeObserver(token) } }
  }

  @Test func aliasesAndOrdinaryWritesAreBothNoticed() throws {
    let store = try makeStore()
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), mapper: \.name)
    controller.performFetch()
    try store.write {
      try store.addNotified(TaskItem(id: 1, projectID: 1, name: "a"))
      try store.add(TaskItem(id: 2, projectID: 1, name: "b"))
      try store.addNotified([TaskItem(id: 3, projectID: 2, name: "c"), TaskItem(id: 4, projectID: 2, name: "d")])
      try store.createNotified(TaskItem.self, value: ["id": 5, "projectID": 3, "name": "e"])
    }
    store.refresh()
    #expect(controller.text == ["1: a b", "2: c d", "3: e"])
    try store.write {
      try store.deleteNotified(try task(store, 1))
      try store.delete(try task(store, 2))
      try store.deleteNotified(store.objects(TaskItem.self).where { $0.projectID == 2 })
    }
    store.refresh()
    #expect(controller.text == ["3: e"])
  }

  @Test func postsComeAfterTheCommitAndNeverFromACancelledWrite() throws {
    let store = try makeStore()
    let listener = Listener()
    listener.listen(to: "TaskItem-int(1)")
    listener.listen(to: "TaskItem-1")
    try store.write {
      try store.addNotified(TaskItem(id: 1, name: "a"), posting: listener.center)
      try task(store, 1).name = "b"
      #expect(listener.heard.isEmpty)
    }
    #expect(listener.heard.count == 1 && listener.heard[0].hasPrefix("add"))
    try store.beginWrite()
    try store.deleteNotified(try task(store, 1), posting: listener.center)
    store.cancelWrite()
    #expect(listener.heard.count == 1)
    try store.write { try task(store, 1).notifyChange(posting: listener.center) }
    try store.write { try store.deleteNotified(try task(store, 1), posting: listener.center) }
    #expect(listener.heard.map { $0.prefix(6) } == ["add Ta", "update", "delete"])
  }

  @Test func notifyChangeIsOneUpdateThoughNothingChanged() throws {
    let store = try makeStore([(1, 1, "a"), (2, 1, "b")])
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID), mapper: \.name)
    let recorder = Recorder<String>()
    controller.delegate = recorder
    controller.performFetch()
    try store.write { try task(store, 2).notifyChange() }
    store.refresh()
    #expect(recorder.take() == ["will", "update b [0, 1] [0, 1]", "did"])
    #expect(throws: StoreError.self) { try task(store, 2).notifyChange() }
  }

  @Test func anObjectThatWasThereIsPostedAsAnUpdate() throws {
    let store = try makeStore([(1, 1, "a")])
    let listener = Listener()
    for id in 1...3 { listener.listen(to: "TaskItem-\(id)") }
    try store.write {
      try store.addNotified(TaskItem(id: 1, projectID: 1, name: "aa"), update: .modified, posting: listener.center)
      try store.addNotified(TaskItem(id: 2, projectID: 1, name: "b"), update: .modified, posting: listener.center)
      let value: [String: Any?] = ["id": 3, "name": "c"]
      try store.createNotified(TaskItem.self, value: value, update: .modified, posting: listener.center)
    }
    try store.write {
      try store.createNotified(TaskItem.self, value: ["id": 3, "name": "cc"], update: .modified, posting: listener.center)
    }
    let heard = listener.heard.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
    #expect(heard == ["update TaskItem-1", "add TaskItem-2", "add TaskItem-3", "update TaskItem-3"])
  }

  @Test func whatComesAndGoesInOneWriteIsNotPosted() throws {
    let store = try makeStore([(1, 1, "a")])
    let listener = Listener()
    for id in 1...2 { listener.listen(to: "TaskItem-\(id)") }
    try store.write {
      try store.addNotified(TaskItem(id: 2, projectID: 1, name: "b"), posting: listener.center)
      try store.deleteNotified(try task(store, 2), posting: listener.center)
    }
    // Undone by its savepoint: it is still there.
    try store.write {
      try? store.savepoint {
        try store.deleteNotified(try task(store, 1), posting: listener.center)
        throw StoreError(.cancelled, "changed my mind")
      }
    }
    #expect(listener.heard.isEmpty && store.objects(TaskItem.self).map(\.id) == [1])
    // Both are told of an object that was there.
    try store.write {
      try task(store, 1).notifyChange(posting: listener.center)
      try store.deleteNotified(try task(store, 1), posting: listener.center)
    }
    #expect(listener.heard.map { $0.prefix(6) } == ["delete"])
  }
}
