import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// One program, the same on every engine.
@Suite struct LibraryTests {
  @Test(arguments: Engine.allCases) func objectsAreWrittenFoundAndRead(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let author = Author(name: "Sei Shōnagon", born: Date(timeIntervalSince1970: -3.1e10))
    author.books = LiveList((1...3).map { Book(title: "Volume \($0)", pages: $0 * 100, cover: $0 == 2 ? Data([7]) : nil) })
    try store.write { try store.add(author) }

    let found = try #require(store.object(Author.self, forPrimaryKey: "Sei Shōnagon"))
    #expect(found == author && found.born == Date(timeIntervalSince1970: -3.1e10))
    #expect(found.books.map(\.pages) == [100, 200, 300] && found.books[1].cover == Data([7]))
    #expect(found.books[0].cover == nil && found.books[2].authors.map(\.name) == ["Sei Shōnagon"])
    #expect(store.objects(Book.self).where { $0.pages >= 200 && $0.title.ends(with: "3") }.count == 1)
    #expect(store.objects(Book.self).sorted(by: \.pages, ascending: false).first?.title == "Volume 3")
    #expect(try store.objects(Book.self).sum(of: \.pages) == 600)
    #expect(try store.objects(Book.self).average(of: \.price) == 9.5)
  }

  @Test(arguments: Engine.allCases) func writesAreSeenAtOnceAndUndoneWhole(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let book = Book(title: "A", pages: 10)
    try store.write { try store.add(book) }
    let long = store.objects(Book.self).where { $0.pages > 50 }
    #expect(long.isEmpty)
    try store.beginWrite()
    book.pages = 60
    #expect(long.map(\.title) == ["A"])
    book.title = "B"
    try store.add(Book(title: "C", pages: 70))
    #expect(long.map(\.title) == ["B", "C"] && book.title == "B")
    store.cancelWrite()
    #expect(long.isEmpty && book.title == "A" && book.pages == 10 && store.objects(Book.self).count == 1)
  }

  @Test(arguments: Engine.allCases) func keysAreUniqueAndTheTransactionGoesOn(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write {
      try store.add(Author(name: "A"))
      do throws(StoreError) { try store.add(Author(name: "A")) } catch { #expect(error.code == .primaryKeyExists) }
      try store.add(Author(name: "A", born: .distantPast), update: .modified)
      try store.add(Author(name: "B"))
    }
    #expect(store.objects(Author.self).map(\.name) == ["A", "B"])
    #expect(store.objects(Author.self).first?.born == .distantPast)
  }

  @Test(arguments: Engine.allCases) func listsAndLinksFollowEditsAndDeletes(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let author = Author(name: "A")
    let books = (0..<4).map { Book(title: "\($0)", pages: $0) }
    author.books = LiveList(books)
    try store.write {
      try store.add(author)
      author.books.move(from: 3, to: 0)
      author.books.append(books[1])
    }
    #expect(author.books.map(\.title) == ["3", "0", "1", "2", "1"])
    try store.write { try store.delete(books[1]) }
    #expect(author.books.map(\.title) == ["3", "0", "2"] && books[1].isInvalidated && books[1].title == "")
    #expect(author.books.where { $0.pages > 0 }?.map(\.title) == ["3", "2"])
    try store.write { try store.delete(store.objects(Author.self)) }
    #expect(author.books.isEmpty && books[0].authors.isEmpty && store.objects(Book.self).count == 3)
  }

  @Test(arguments: Engine.allCases) func manyObjectsAreWalkedInOrder(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { for i in 0..<5_000 { try store.add(Book(title: "Book \(i)", pages: i, isLent: i % 3 == 0)) } }
    try store.write { try store.delete(store.objects(Book.self).where { $0.isLent == true }) }
    var expected = 0
    for book in store.objects(Book.self) {
      if expected % 3 == 0 { expected += 1 }
      #expect(book.pages == expected && !book.isLent && book.title == "Book \(expected)")
      expected += 1
    }
    #expect(store.objects(Book.self).count == 3_333)
    #expect(store.objects(Book.self)[100].pages == 151)
  }

  @Test(arguments: Engine.allCases) func aStoreIsThereAgainWhenReopened(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    var first: Store? = try Store(configuration)
    try first?.write { try first?.add(Book(title: "kept")) }
    let second = try Store(configuration)
    first = nil
    #expect(second.objects(Book.self).map(\.title) == ["kept"])
  }

  @Test(arguments: Engine.allCases) func anotherStoreSeesACommitAfterItsRefresh(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    var heard = 0
    let token = store.observe { _, _ in heard += 1 }
    let count = try await store.write { store in
      for i in 0..<10 { try store.add(Book(title: "\(i)")) }
      return store.objects(Book.self).count
    }
    #expect(count == 10 && store.objects(Book.self).count == 10 && heard == 1)
    token.stop()
  }
}
