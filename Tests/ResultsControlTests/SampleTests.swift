import Foundation
import ResultsControl
import Testing
import Vivarium

/// The samples of the README of a controller of this kind, in its order.
@Suite struct SampleTests {
  /// The entity that its rows are mapped to.
  private struct Entity: Equatable {
    let title: String
    static func map(_ task: TaskItem) -> Entity { Entity(title: "\(task.id): \(task.name)") }
  }

  private func request(_ store: Store) -> ResultsRequest<TaskItem> {
    ResultsRequest(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]) { store in
      store.objects(TaskItem.self).filter("id != 0")
    }
  }

  @Test func aRequestAndItsThreeControllers() throws {
    let store = try makeStore([(0, 1, "hidden"), (1, 1, "a"), (2, 2, "b")])
    let request = request(store)
    #expect(request.execute().map(\.id) == [1, 2] && store.execute(request).toArray().count == 2)
    let filtered = try ResultsController(
      request: request, sectionedBy: .by(\.projectID), mapper: Entity.map, filter: { $0.name != "a" })
    let mapped = try ResultsController(request: request, sectionedBy: .by(\.projectID), mapper: Entity.map)
    let same = try ResultsController(request: request, sectionedBy: .by(\.projectID))
    filtered.performFetch()
    mapped.performFetch()
    same.performFetch()
    #expect(filtered.sections.map(Array.init) == [[Entity(title: "2: b")]])
    #expect(mapped.numberOfSections == 2 && mapped.numberOfObjects(inSection: 0) == 1)
    #expect(mapped.object(at: RowPath(section: 0, row: 0)) == Entity(title: "1: a"))
    #expect(same.object(at: RowPath(section: 1, row: 0))?.name == "b")
    filtered.updateFilter { _ in true }
    #expect(filtered.numberOfSections == 2)
  }

  @Test func aChangedUserIsNoticedWithAndWithoutSayingSo() throws {
    let store = try makeStore()
    let users = try ResultsController(
      request: ResultsRequest<User>(store: store, sortedBy: [SortKey(\User.name)]), mapper: \.name)
    let recorder = Recorder<String>()
    users.delegate = recorder
    users.performFetch()
    let user = User(id: 1)
    user.name = "old name"
    try store.write { try store.addNotified(user) }
    store.refresh()
    try store.write {
      user.name = "new name"
      try user.notifyChange()
    }
    store.refresh()
    try store.write { user.name = "newer name" }
    store.refresh()
    #expect(
      recorder.take() == [
        "will", "insert old name [0, 0] [0, 0]", "did", "will", "update new name [0, 0] [0, 0]", "did", "will",
        "update newer name [0, 0] [0, 0]", "did",
      ])
  }

  @Test func anObjectIsListenedToByItsName() throws {
    let store = try makeStore()
    let center = NotificationCenter()
    let user = User(id: 7, name: "Ann")
    try store.write { try store.add(user) }
    #expect(user.objectIdentifier == "User-7")
    nonisolated(unsafe) var actions: [ObjectPost.Action] = []  // posts come on the test's own thread
    let observer = center.addObserver(forName: Notification.Name(user.objectIdentifier), object: nil, queue: nil) { note in
      if let post = note.userInfo?[ObjectPost.key] as? ObjectPost { actions.append(post.action) }
    }
    try store.write {
      user.name = "Anna"
      try user.notifyChange(posting: center)
    }
    try store.write { try store.deleteNotified(user, posting: center) }
    #expect(actions == [.update, .delete])
    center.removeObserver(observer)
  }
}
