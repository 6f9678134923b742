import Foundation
import StoreValues
import Testing
import Vivarium

@Suite struct StoreCommitTests {
  @Test func commitsAreKeptInOrderWithWhatTheyDid() throws {
    let configuration = makeConfiguration()
    let (store, other) = (try Store(configuration), try Store(configuration))
    let start = store.version
    let dog = Dog(name: "Rex", age: 1)
    try store.write(author: "ann") { try store.add(dog) }
    let id = dog.id
    try store.write { dog.age = 2 }
    other.refresh()
    try other.write(author: "bob") { try other.delete(other.objects(Dog.self)) }
    store.refresh()
    let commits = try store.commits(since: start)
    #expect(commits.map(\.author) == ["ann", nil, "bob"] && commits.map(\.isOwn) == [true, true, false])
    #expect(commits.map(\.version.rawValue) == (1...3).map { start.rawValue + $0 })
    #expect(commits[0].changes.map(\.inserted) == [[id]])
    #expect(commits[1].changes.first?.modified.map(\.properties) == [["age"]])
    #expect(commits[2].changes.map(\.deleted) == [[id]])
    #expect(try store.commits(since: commits[1].version).count == 1)
    #expect(try store.commits(since: store.version).isEmpty)
  }

  @Test func commitsSayWhatValuesWereAndAreWhereTheirStoreRecordsThem() throws {
    var configuration = makeConfiguration()
    let plain = try Store(configuration)
    configuration.recordsValues = true
    let store = try Store(configuration)
    let start = store.version
    let (rex, max) = (Dog(name: "Rex", age: 1), Dog(name: "Max", age: 2))
    try store.write { try store.add([rex, max]) }
    try store.write {
      rex.age = 5
      rex.age = 7
      max.name = "on the way"
      max.name = "Max"
    }
    try store.write {
      try store.savepoint { rex.name = "kept" }
      try? store.savepoint {
        rex.age = 99
        throw StoreError(.cancelled, "Not this.")
      }
      try store.delete(max)
      try store.add(Dog(name: "came and went"))
      try store.delete(store.objects(Dog.self).where { $0.name == "came and went" })
    }
    plain.refresh()
    try plain.write { plain.objects(Dog.self).first?.age = 8 }
    let told = try plain.commits(since: start).map { commit in
      commit.changes.flatMap(\.values).map { "\($0.property) \($0.old) \($0.new)" }
    }
    func line(_ property: String, _ old: Value, _ new: Value) -> String { "\(property) \(old) \(new)" }
    #expect(
      told == [
        [
          line("name", .null, .string("Rex")), line("age", .null, .int(1)), line("name", .null, .string("Max")),
          line("age", .null, .int(2)),
        ],
        [line("age", .int(1), .int(7))],
        [line("name", .string("Rex"), .string("kept")), line("name", .string("Max"), .null), line("age", .int(2), .null)],
        [],
      ])
  }

  /// As it is where an older copy of the file was put in its place.
  @Test func aCursorThatTheFileHasNeverComeToIsRefused() async throws {
    let configuration = makeConfiguration()
    let (store, other) = (try Store(configuration), try Store(configuration))
    try other.write { try other.add(Dog(name: "Rex")) }
    // This store is behind, and its file is not.
    #expect(store.version < other.version)
    #expect(try store.commits(since: other.version).isEmpty)
    let ahead = Version(other.version.rawValue + 1)
    let error = #expect(throws: StoreError.self) { try store.commits(since: ahead) }
    #expect(error?.code == .historyTrimmed && error?.remedy != nil)
    #expect(error?.details == ["cursor": "\(ahead.rawValue)", "newest": "\(other.version.rawValue)"])
    let told = await #expect(throws: StoreError.self) { try await Feed().authors(configuration, since: ahead, 1) }
    #expect(told?.code == .historyTrimmed)
  }

  @Test func theSequenceGoesOnFromACursor() async throws {
    let configuration = makeConfiguration()
    let feed = Feed()
    let writer = try Store(configuration)
    let start = writer.version
    try writer.write { try writer.add(Dog(name: "0")) }
    async let first = feed.authors(configuration, since: start, 3)
    for name in ["a", "b", "c"] { try writer.write(author: name) { try writer.add(Dog(name: name)) } }
    #expect(try await first == ["-", "a", "b"])
    #expect(try await feed.authors(configuration, since: Version(start.rawValue + 3), 1) == ["c"])
  }
}

private actor Feed {
  func authors(_ configuration: Store.Configuration, since version: Version, _ count: Int) async throws -> [String] {
    let store = try Store(configuration)
    var authors: [String] = []
    for try await commit in store.changes(since: version) {
      authors.append(commit.author ?? "-")
      if authors.count == count { break }
    }
    return authors
  }
}
