import Testing
import Vivarium
import VivariumTestSupport

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

  /// Every object that is walked over is looked at a little later, and is gone by then, however many there are: at no moment do
  /// more than two live, in any of the ways to walk.
  @Test(arguments: Engine.allCases) func howManyAreWalkedOverNoMoreThanTwoLiveAtATime(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let count = environmentNumber("VIVARIUM_WALKED", default: 20_000)
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.write {
        for i in start..<min(start + 10_000, count) { try store.add(Book(title: "Book \(i)", pages: i)) }
      }
    }
    let author = Author(name: "A")
    try store.write {
      try store.add(author)
      author.books.append(contentsOf: store.objects(Book.self))
    }
    var alive = Alive()
    let books = store.objects(Book.self)
    for book in books { alive.meet(book) }
    for book in books.sorted(by: \.pages, ascending: false) { alive.meet(book) }
    for book in books.where({ $0.pages >= 0 }) { alive.meet(book) }
    for position in books.indices { alive.meet(books[position]) }
    for position in author.books.indices { alive.meet(author.books[position]) }
    books.forEach { alive.meet($0) }
    #expect(alive.met == 6 * count && alive.most <= 2 && alive.now == 0)
    #expect(alive.pages == 6 * count * (count - 1) / 2)
  }

  /// The last objects that were met, and how many of them live at the most.
  private struct Alive {
    private var last = Array(repeating: Held(), count: 64)
    private(set) var met = 0
    private(set) var most = 0
    private(set) var pages = 0

    var now: Int { last.count { $0.book != nil } }

    mutating func meet(_ book: Book) {
      pages += book.pages
      let place = met % last.count
      met += 1
      // Any that outlived the others is still here when its place comes again.
      if place == 0 { most = max(most, now) }
      last[place] = Held(book: book)
    }
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
