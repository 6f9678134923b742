import TestSupport
import Testing
import Vivarium

/// Nobody keeps an object but the program: counted by weak references, not by megabytes.
@Suite struct MemoryTests {
  private struct Held { weak var book: Book? }

  @Test(arguments: Engine.allCases) func walkingManyObjectsKeepsNone(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    var held: [Held] = []
    func alive() -> Int { held.count { $0.book != nil } }

    try store.write {
      for i in 0..<1_000 {
        let book = Book(title: "Book \(i)", pages: i)
        try store.add(book)
        held.append(Held(book: book))
        if i % 100 == 0 { #expect(alive() <= 2) }
      }
      let author = Author(name: "A")
      author.books.append(contentsOf: store.objects(Book.self).where { $0.pages < 100 })
      try store.add(author)
    }
    #expect(alive() == 0)

    held = []
    let results = store.objects(Book.self).sorted(by: \.pages, ascending: false)
    for book in results {
      held.append(Held(book: book))
      if held.count % 100 == 0 { #expect(alive() <= 2) }
    }
    #expect(held.count == 1_000 && alive() == 0)

    held = []
    for position in results.indices { held.append(Held(book: results[position])) }
    for book in store.objects(Author.self)[0].books { held.append(Held(book: book)) }
    #expect(held.count == 1_100 && alive() == 0)
  }

  @Test(arguments: Engine.allCases) func anObjectKeepsItsStoreAndTheStoreNoObject(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    weak var store: Store?
    var book: Book?
    do {
      let opened = try Store(configuration)
      store = opened
      book = Book(title: "A")
      try opened.write { if let book { try opened.add(book) } }
    }
    #expect(store != nil && book?.title == "A" && book?.store === store)
    book = nil
    #expect(store == nil)
  }
}
