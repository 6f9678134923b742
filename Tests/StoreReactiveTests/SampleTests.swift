import Foundation
import StoreReactive
import Testing
import Vivarium

/// What people do with streams of a database, by a book's samples.
@Suite struct SampleTests {
  @Test func aPreferenceAndTheTodosItIsAboutComeOnceForEachFlip() throws {
    let store = try makeStore()
    let preferences = Preferences(id: 1)
    try store.write {
      try store.add(preferences)
      try store.add([Todo(title: "buy milk", isCompleted: true), Todo(title: "call Ann")])
    }
    let todos = store.objects(Todo.self).sorted(by: \.title)
    var shown: [[String]] = []
    let stream = Live.combineLatest(preferences, todos)
      .map { preferences, todos in preferences.hidesCompletedTodos ? todos.where { $0.isCompleted == false } : todos }
      .sink(receiveCompletion: { _ in }) { shown.append($0.map(\.title)) }
    store.refresh()
    #expect(shown == [["buy milk", "call Ann"]])
    for flip in 0..<3 {
      try store.write { preferences.hidesCompletedTodos.toggle() }
      store.refresh()
      #expect(shown.count == flip + 2)
    }
    #expect(shown.last == ["call Ann"])
    // Both at once are one value, and never a pair that was not.
    try store.write {
      preferences.hidesCompletedTodos = false
      try store.add(Todo(title: "drink tea"))
    }
    store.refresh()
    #expect(shown.count == 5 && shown.last == ["buy milk", "call Ann", "drink tea"])
    var failure: StoreError.Code?
    let second = Live.combineLatest(preferences, todos)
      .sink(receiveCompletion: { if case .failure(let error) = $0 { failure = error.code } }, receiveValue: { _ in })
    try store.write { try store.delete(preferences) }
    store.refresh()
    #expect(failure == .objectDeleted)
    stream.cancel()
    second.cancel()
  }

  @Test func oneStreamOfAPreferenceChangesOnlyWhenItDoes() throws {
    let store = try makeStore()
    let preferences = Preferences(id: 1)
    try store.write { try store.add(preferences) }
    var flags: [Bool] = []
    let stream = Live.object(from: preferences).map(\.hidesCompletedTodos).removeDuplicates()
      .sink(receiveCompletion: { _ in }) { flags.append($0) }
    try store.write { try store.add(Todo(title: "x")) }
    store.refresh()
    try store.write { preferences.hidesCompletedTodos = true }
    store.refresh()
    #expect(flags == [false, true])
    stream.cancel()
  }

  @Test func aChangedTitleSaysWhatItWas() throws {
    let store = try makeStore()
    let lap = Lap(number: 1, time: 3)
    try store.write { try store.add(lap) }
    store.refresh()
    var lines: [String] = []
    let stream = Live.propertyChanges(of: lap).filter { $0.name == "time" }
      .sink(receiveCompletion: { _ in }) { change in
        lines.append("property \(change.name) changed from: \(change.oldValue ?? .null) to: \(change.newValue ?? .null)")
      }
    try store.write { lap.time = 4 }
    store.refresh()
    #expect(lines == ["property time changed from: \(Value.int(3)) to: \(Value.int(4))"])
    stream.cancel()
  }

  @Test func newMailIsAskedForSinceTheLastAndAdded() throws {
    let store = try makeStore()
    // What the server has; each poll asks for what came since the newest that is known here.
    var server = [Mail(id: 1, dateReceived: Date(timeIntervalSince1970: 10))]
    let poll = PassthroughSubject<Void, Never>()
    var asked: [Date] = []
    let stream = poll
      .map { _ -> [Mail] in
        let last = store.objects(Mail.self).sorted(by: \.dateReceived).last?.dateReceived ?? .distantPast
        asked.append(last)
        return server.filter { $0.dateReceived > last }
      }
      .write(with: Live.add(all: [Mail].self, to: store))
    poll.send(())
    server = [2, 3].map { Mail(id: $0, dateReceived: Date(timeIntervalSince1970: Double($0) * 10)) }
    poll.send(())
    poll.send(())
    #expect(store.objects(Mail.self).map(\.id) == [1, 2, 3])
    #expect(asked == [.distantPast, Date(timeIntervalSince1970: 10), Date(timeIntervalSince1970: 30)])
    stream.cancel()
  }

  @Test func whatIsSelectedIsDeletedAtATap() throws {
    let store = try makeStore()
    try store.write { for number in 1...4 { try store.add(Mail(id: number)) } }
    let tap = PassthroughSubject<Void, Never>()
    var selected = [2, 3]
    let stream = tap
      .map { _ in store.objects(Mail.self).toArray().filter { selected.contains($0.id) } }
      .write(with: Live.delete(all: [Mail].self, from: store))
    tap.send(())
    let version = store.version
    selected = []
    tap.send(())
    #expect(store.objects(Mail.self).map(\.id) == [1, 4] && store.version == version)
    stream.cancel()
  }

  @Test func changesSayWhatWasDeletedInsertedAndUpdated() throws {
    let store = try makeStore()
    try store.write { try store.add([Lap(number: 1), Lap(number: 2)]) }
    var lines: [String] = []
    let stream = Live.changeset(from: store.objects(Lap.self)).sink(receiveCompletion: { _ in }) { results, changes in
      if let changes {
        lines.append("deleted: \(changes.deleted) inserted: \(changes.inserted) updated: \(changes.updated)")
      } else {
        lines.append("initial: \(results.count)")
      }
    }
    store.refresh()
    try store.write {
      try store.delete(store.objects(Lap.self).where { $0.number == 1 })
      try store.add(Lap(number: 3))
      store.object(Lap.self, forPrimaryKey: 2)?.time = 1
    }
    store.refresh()
    #expect(lines == ["initial: 2", "deleted: [0] inserted: [1] updated: [1]"])
    stream.cancel()
  }
}
