// What Docs/Notifications.md, Predicates.md, Transactions.md and Inspect.md show, to the letter: Tools/check compares, PagesGuideTests
// runs it.
import Foundation
import QueryEngine
import QueryModel
import StorageInterface
import StoreInspection
import Vivarium

enum Pages {
  @Model final class Todo {
    var title = ""
    var isDone = false
  }

  @Model final class Settings {
    var hidesCompleted = false
  }

  @Model final class Word {
    var text = ""
  }

  @Model final class Note {
    @FullText var body = ""
  }

  @Model final class Book {
    var pages = 0
  }

  static let models: [any SchemaDescribing.Type] = [Todo.self, Settings.self, Word.self, Note.self, Book.self]

  /// What stands for a table view: it shows texts, and counts the change sets.
  final class Table<Element> {
    private(set) var shown: [String] = []
    private(set) var updates = 0
    private let text: (Element) -> String
    init(_ text: @escaping (Element) -> String) { self.text = text }
    func reload(_ rows: some Collection<Element>) { shown = rows.map(text) }
    func deleteRow(at row: Int) { shown.remove(at: row) }
    func delete(_ rows: [Int]) { for row in rows.reversed() { deleteRow(at: row) } }
    func insert(_ rows: [Int], from all: some Collection<Element>) {
      let texts = all.map(text)
      for row in rows { shown.insert(texts[row], at: row) }
    }
    func redraw(_ rows: [Int], from all: some Collection<Element>) {
      let texts = all.map(text)
      for row in rows { shown[row] = texts[row] }
    }
    func show(_ error: StoreError) { shown = [error.message] }
    func apply(_ change: Vivarium.CollectionChange<some Collection<Element>>) {
      if case .update = change { updates += 1 }
      if let rows = change.collection { reload(rows) }
    }
  }

  static func hearing(in store: Store, _ table: Table<Todo>) -> NotificationToken {
    let todos = store.objects(Todo.self).where { !$0.isDone }.sorted(by: \.title)
    let token = todos.observe { change in
      switch change {
      case .initial(let todos): table.reload(todos)
      case .update(let todos, let deletions, let insertions, let modifications):
        table.delete(deletions)
        table.insert(insertions, from: todos)
        table.redraw(modifications.new, from: todos)
      case .error(let error): table.show(error)
      }
    }
    return token
  }

  static func deleting(_ row: Int, in store: Store, _ table: Table<Todo>, _ token: NotificationToken) throws {
    let messages = store.objects(Todo.self).sorted(by: \.title)
    try store.beginWrite()
    try store.delete(messages[row])
    table.deleteRow(at: row)                              // the interface shows it already
    try store.commitWrite(withoutNotifying: [token])      // so this token is not told
  }

  static func bound(in store: Store, _ settings: Settings, _ table: Table<Todo>) -> NotificationToken {
    let shown = store.objects(Todo.self).sorted(by: \.title)
      .filter(bind: settings, \.hidesCompleted) { todo, hides in hides ? !todo.isDone : nil }
    let token = shown.observe { change in table.apply(change) }
    return token
  }

  static func tested(in store: Store, _ table: Table<Word>) -> NotificationToken {
    let palindromes = store.objects(Word.self).sorted(by: \.text)
      .filter(reading: [\.text]) { $0.text == String($0.text.reversed()) }       // or by names: reading: ["text", "language.code"]
    let token = palindromes.observe { change in table.apply(change) }
    return token
  }

  static func hearingOne(_ todo: Todo, _ label: @escaping (String) -> Void) -> NotificationToken {
    let token = todo.observe { change in
      switch change {
      case .change(let properties): label(properties.map(\.name).joined(separator: ", "))
      case .deleted: label("gone")
      case .error(let error): label(error.message)
      }
    }
    return token
  }

  static func parsing() throws -> [Query] {
    let query = try Query(type: "Person", parsing: "age > %@ AND ANY dogs.name BEGINSWITH[c] 'r'", arguments: [.value(.int(21))])
    let sorted = try Query(type: "Person", parsing: "name CONTAINS 'an' SORT(age DESC) DISTINCT(city) LIMIT(10)")
    return [query, sorted]
  }

  static func ranking(in store: Store, _ print: (Double, TextSnippet, [Substring]) -> Void) throws {
    let query = try TextQuery("live dat*")
    let notes = store.objects(Note.self).where { $0.body.matches(text: query.text) }
    for note in try notes.ranked(by: \.body, text: query.text).prefix(10) {     // BM25 over these results: reads all their texts
      let snippet = query.snippet(of: note.object.body, length: 120)           // the piece with the most of the words
      print(note.score, snippet, snippet.hits.map { snippet.text[$0] })
    }
  }

  @MainActor static func writing(_ book: Book, in store: Store, _ log: @escaping @Sendable ((any Error)?) -> Void) async throws {
    try store.write { try store.add(book) }                        // here and now
    try await store.write { store in try store.add(Book()) }       // on the worker, from any actor
    store.writeAsync { store in try store.add(Book()) } onComplete: { error in log(error) }     // the same, without await
    try store.beginAsyncWrite { book.pages += 1; try store.commitAsyncWrite() }   // here, when its turn has come
  }

  static func inspecting(_ engine: any StorageEngine) throws -> String {
    let output = StringOutput()
    try Inspector(engine, location: "cache", format: .table, output: output).dump(["Person"], limit: 10)
    print(output.text)
    return output.text
  }
}
