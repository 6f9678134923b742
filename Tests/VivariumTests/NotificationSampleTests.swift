import Testing
import Vivarium
import VivariumTestSupport

@Model final class AppState {
  @PrimaryKey var id = 0
  var unreadCount = 0
  var status = ""
  var noisyProp = 0
}

@Model final class PermissionChange {
  @PrimaryKey var id = 0
  var mayRead = false
  var statusCode: Int?
  var statusMessage = ""
}

/// A table on a screen, as one that is kept by change sets sees itself: it believes what it is told, and checks the sum as the
/// usual ones do, which end the program when it is wrong.
private final class Table<Object: Model> {
  private let title: (Object) -> String
  private(set) var titles: [String] = []
  private(set) var reloads = 0
  private(set) var updates = 0
  private(set) var faults: [String] = []

  init(_ title: @escaping (Object) -> String) { self.title = title }

  func applyChanges(_ changes: CollectionChange<Results<Object>>) {
    switch changes {
    case .initial(let results):
      reloads += 1
      titles = results.map(title)
    case .update(let results, let deletions, let insertions, let modifications):
      updates += 1
      let before = titles.count
      for row in deletions.reversed() { deleteRow(at: row) }
      for row in insertions { titles.insert(title(results[row]), at: row) }
      for row in modifications.new { titles[row] = title(results[row]) }
      if before - deletions.count + insertions.count != results.count || titles.count != results.count {
        faults.append("\(before) rows - \(deletions.count) + \(insertions.count) are not \(results.count)")
      }
    case .error(let error): faults.append("\(error)")
    }
  }

  func deleteRow(at row: Int) { titles.remove(at: row) }
  func moveRow(at row: Int, to other: Int) { titles.insert(titles.remove(at: row), at: other) }
}

/// What talks and tutorials show of notifications, with the names that they have here.
@Suite struct NotificationSampleTests {
  let configuration = StoreConfiguration.reference(
    nil, models: [Person.self, Dog.self, AppState.self, PermissionChange.self]).byHand

  @Test func aBlockForEverythingThatHappens() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    var updates = 0
    let token = store.observe { _, _ in updates += 1 }
    try other.write { try other.add(Dog()) }
    try store.write { try store.add(Person()) }
    // Refreshing waits for them.
    store.refresh()
    #expect(updates >= 1)
    let heard = updates
    token.stop()
    try other.write { try other.add(Dog()) }
    store.refresh()
    #expect(updates == heard)
  }

  @Test func aTableFollowsItsResults() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try other.write { for name in ["Ann", "Bob", "Cid"] { try other.add(Person(name: name)) } }
    let table = Table<Person>(\.name)
    let token = store.objects(Person.self).sorted(by: \.name).observe(table.applyChanges)
    store.refresh()
    #expect(table.titles == ["Ann", "Bob", "Cid"] && table.reloads == 1)
    try other.write {
      try other.add(Person(name: "Abe"))
      let people = other.objects(Person.self)
      people.where { $0.name == "Bob" }.first?.name = "Zoe"
      try other.delete(people.where { $0.name == "Cid" })
    }
    store.refresh()
    #expect(table.titles == ["Abe", "Ann", "Zoe"] && table.updates == 1 && table.faults == [])
    token.stop()
  }

  @Test func manyWritesAreOneChangeSet() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    let table = Table<Dog>(\.name)
    let token = store.objects(Dog.self).sorted(by: \.name).observe(table.applyChanges)
    store.refresh()
    for i in 0..<1_000 { try other.write { try other.add(Dog(name: "\(10_000 + i * 7 % 1_000)")) } }
    store.refresh()
    #expect(table.reloads == 1 && table.updates == 1 && table.faults == [])
    #expect(table.titles == store.objects(Dog.self).sorted(by: \.name).map(\.name))
    token.stop()
  }

  @Test func theQueryRunsHereOnlyForWhoReadsIt() throws {
    let store = try Store(configuration)
    try store.write { for age in 0..<10 { try store.add(Dog(name: "\(age)", age: age)) } }
    let dogs = store.objects(Dog.self).where { $0.age > 2 }
    let queries = store.evaluationCount
    var count = 0
    let work = store.notifierWork
    let token = dogs.observe { change in count = change.collection?.count ?? -1 }
    store.refresh()
    try store.write { try store.add(Dog(age: 50)) }
    store.refresh()
    #expect(count == 8 && store.evaluationCount == queries)
    // The notifier took one step for the commit, and asked the whole question for the first result alone.
    #expect(store.notifierWork.steps == work.steps + 1 && store.notifierWork.rebuilds == work.rebuilds)
    token.stop()
    // And where the first is read before there is an observer, it is asked for once.
    let others = store.objects(Dog.self).where { $0.age > 4 }
    _ = others.first
    #expect(store.evaluationCount == queries + 1)
  }

  @Test func theInterfaceWritesWhatItShowsAlready() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { for name in ["a", "b", "c"] { try store.add(Dog(name: name)) } }
    let messages = store.objects(Dog.self)
    let table = Table<Dog>(\.name)
    let token = messages.observe(table.applyChanges)
    store.refresh()
    // Somebody else writes first: what the row shows is brought up to date before the write begins.
    try other.write { other.objects(Dog.self).first?.name = "A" }
    try store.beginWrite()
    #expect(table.titles == ["A", "b", "c"])
    try store.delete(messages[1])
    table.deleteRow(at: 1)
    try store.commitWrite(withoutNotifying: [token])
    store.refresh()
    #expect(table.updates == 1 && table.titles == ["A", "c"])
    try other.write { try other.add(Dog(name: "d")) }
    store.refresh()
    #expect(table.updates == 2 && table.titles == ["A", "c", "d"] && table.faults == [])
    token.stop()
  }

  @Test func rowsAreReorderedByHand() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      for name in ["a", "b", "c"] { person.dogs.append(Dog(name: name)) }
    }
    var (titles, calls) = ([String](), 0)
    let token = person.dogs.observe { change in
      calls += 1
      titles = change.collection?.map(\.name) ?? []
    }
    store.refresh()
    try store.beginWrite()
    person.dogs.move(from: 0, to: 2)
    titles.insert(titles.remove(at: 0), at: 2)
    try store.commitWrite(withoutNotifying: [token])
    store.refresh()
    #expect(calls == 1 && titles == person.dogs.map(\.name))
    token.stop()
  }

  @Test func onePropertyIsFollowedInsideItsSetter() throws {
    let store = try Store(configuration)
    let dog = Dog(name: "Rex", age: 1)
    try store.write { try store.add(dog) }
    var label = "\(dog.age)"
    let token = dog.observe(\.age, options: [.new]) { _, change in label = "\(change.newValue ?? -1)" }
    try store.write {
      dog.age = 2
      #expect(label == "2")
    }
    token.stop()
  }

  @Test func aCollectionOfOneIsAnAnswerToWaitFor() throws {
    let (store, server) = (try Store(configuration), try Store(configuration))
    let change = PermissionChange(id: 7, mayRead: true)
    try store.write { try store.add(change) }
    var message = ""
    let collectionOfOne = store.objects(PermissionChange.self).filter("id = %@", change.id)
    let token = collectionOfOne.observe { notification in
      if case .update(let changes, _, _, _) = notification, let change = changes.first, change.statusCode != nil {
        message = change.statusMessage
      }
    }
    store.refresh()
    #expect(message == "")
    try server.write {
      let asked = server.object(PermissionChange.self, forPrimaryKey: 7)
      asked?.statusCode = 0
      asked?.statusMessage = "done"
    }
    store.refresh()
    #expect(message == "done")
    token.stop()
  }

  @Test func anObjectTellsItsPropertiesWithOldAndNewValues() throws {
    let store = try Store(configuration)
    try store.write { try store.add(Person(name: "Jane", age: 30)) }
    let jane = try #require(store.objects(Person.self).filter("name == 'Jane'").first)
    var lines: [String] = []
    let token = jane.observe { change in
      switch change {
      case .change(let properties):
        for property in properties { lines.append("'\(property.name)': \(property.oldValue ?? .null) -> \(property.newValue ?? .null)") }
      case .deleted: lines.append("object was deleted")
      case .error(let error): lines.append("notification couldn't be delivered: \(error)")
      }
    }
    try store.write { jane.age = 31 }
    store.refresh()
    #expect(lines.count == 1 && lines[0].hasPrefix("'age': ") && lines[0].contains("30") && lines[0].contains("31"))
    try store.write { try store.delete(jane) }
    store.refresh()
    #expect(lines.last == "object was deleted")
    token.stop()
  }

  @Test func tokensOfOneObjectHaveFiltersOfTheirOwn() throws {
    let store = try Store(configuration)
    let state = AppState()
    try store.write { try store.add(state) }
    var (first, second): ([[String]], [[String]]) = ([], [])
    func names(_ change: ObjectChange) -> [String] {
      if case .change(let properties) = change { properties.map(\.name) } else { [] }
    }
    let tokens = [
      try state.observe(observingProperties: ["unreadCount", "status"]) { first.append(names($0)) },
      try state.observe(ignoringProperties: ["noisyProp"]) { second.append(names($0)) },
    ]
    try store.write { state.noisyProp = 1 }
    store.refresh()
    #expect(first == [] && second == [])
    try store.write {
      state.noisyProp = 2
      state.status = "busy"
    }
    store.refresh()
    #expect(first == [["status"]] && second == [["status"]])
    for token in tokens { token.stop() }
  }
}
