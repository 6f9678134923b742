import Foundation
import QueryModel
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// What the pages show does what they say.
@Suite(.timeLimit(.minutes(15))) struct PagesGuideTests {
  private func store(_ titles: [String] = []) throws -> Store {
    let store = try Store(Engine.memory.configuration(URL(fileURLWithPath: "/"), Pages.models))
    try store.write { for title in titles { try store.add(Pages.Todo(title: title)) } }
    return store
  }

  @Test func aTableFollowsWhatItIsTold() throws {
    let store = try store(["a", "c"])
    let table = Pages.Table<Pages.Todo>(\.title)
    let token = Pages.hearing(in: store, table)
    store.refresh()
    #expect(table.shown == ["a", "c"])
    try store.write {
      store.objects(Pages.Todo.self).where { $0.title == "a" }.first?.isDone = true
      store.objects(Pages.Todo.self).where { $0.title == "c" }.first?.title = "d"
      try store.add(Pages.Todo(title: "b"))
    }
    store.refresh()
    #expect(table.shown == ["b", "d"])
    token.stop()
  }

  @Test func oneObjectIsFollowedToItsEnd() throws {
    let store = try store(["a"])
    let todo = try #require(store.objects(Pages.Todo.self).first)
    var label = ""
    let token = Pages.hearingOne(todo) { label = $0 }
    try store.write { todo.title = "b" }
    store.refresh()
    #expect(label == "title")
    try store.write { try store.delete(todo) }
    store.refresh()
    #expect(label == "gone")
    token.stop()
  }

  @Test func whatTheInterfaceDeletedIsNotTold() throws {
    let store = try store(["a", "b", "c"])
    let table = Pages.Table<Pages.Todo>(\.title)
    let token = store.objects(Pages.Todo.self).sorted(by: \.title).observe { change in table.apply(change) }
    store.refresh()
    try Pages.deleting(1, in: store, table, token)
    store.refresh()
    #expect(table.shown == ["a", "c"] && table.updates == 0)
    token.stop()
  }

  @Test func boundResultsFollowTheirObject() throws {
    let store = try store(["a", "b"])
    let settings = Pages.Settings()
    try store.write {
      try store.add(settings)
      store.objects(Pages.Todo.self).where { $0.title == "a" }.first?.isDone = true
    }
    let table = Pages.Table<Pages.Todo>(\.title)
    let token = Pages.bound(in: store, settings, table)
    store.refresh()
    #expect(table.shown == ["a", "b"])
    try store.write { settings.hidesCompleted = true }
    store.refresh()
    #expect(table.shown == ["b"])
    token.stop()
  }

  @Test func testsInSwiftAreLive() throws {
    let store = try store()
    let table = Pages.Table<Pages.Word>(\.text)
    let token = Pages.tested(in: store, table)
    try store.write { for text in ["noon", "moon", "level"] { try store.add(Pages.Word(text: text)) } }
    store.refresh()
    #expect(table.shown == ["level", "noon"])
    token.stop()
  }

  @Test func textsBecomeQueries() throws {
    #expect(try Pages.parsing().count == 2)
  }

  @Test func whatIsFoundIsRankedAndCut() throws {
    let store = try store()
    try store.write {
      for text in ["live data", "a live database of live data", "dead data"] { try store.add(Pages.Note(body: text)) }
    }
    var (scores, texts): ([Double], [String]) = ([], [])
    try Pages.ranking(in: store) { score, snippet, words in
      scores.append(score)
      texts.append(snippet.text)
      #expect(!words.isEmpty)
    }
    #expect(texts.count == 2 && scores == scores.sorted(by: >))
  }

  @MainActor @Test func fourWaysToWriteEndInTheStore() async throws {
    let store = try Store(Engine.memory.configuration(URL(fileURLWithPath: "/"), Pages.models))
    let book = Pages.Book()
    let logged = AsyncSignal()
    try await Pages.writing(book, in: store) { error in
      #expect(error == nil)
      logged.fire()
    }
    await logged.wait()
    // The last one has a turn of its own: wait for the page it turns.
    while book.pages == 0 { try await store.write { _ in } }
    store.refresh()
    #expect(store.objects(Pages.Book.self).count == 3 && book.pages == 1)
  }

  @Test func aProgramPrintsWhatInspectDoes() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    let schema = Schema([ObjectSchema(name: "Person", properties: [PropertySchema(name: "name", kind: .scalar(.string))])])
    try write.setCatalog(write.catalog.adopting(schema).catalog)
    _ = try write.commit(CommitRecord(author: nil, timeMilliseconds: 0), .full)
    #expect(try Pages.inspecting(engine).contains("Person"))
  }
}
