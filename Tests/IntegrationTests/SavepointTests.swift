import Testing
import Vivarium
import VivariumTestSupport

private struct Stop: Error, Equatable { var number: Int }

@Suite struct SavepointTests {
  @Test(arguments: Engine.allCases) func aPartIsUndoneAlone(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let (author, book) = (Author(name: "A"), Book(title: "kept", pages: 1))
    author.books = [book]
    try store.write { try store.add(author) }
    let lost = Book(title: "lost")
    let long = store.objects(Book.self).where { $0.pages > 1 }
    try store.write {
      book.title = "changed"
      #expect(throws: Stop(number: 1)) {
        try store.savepoint {
          try store.add(lost)
          book.pages = 5
          author.books.append(lost)
          try store.delete(book)
          #expect(author.books.map(\.title) == ["lost"] && long.isEmpty)
          throw Stop(number: 1)
        }
      }
      #expect(store.isInWriteTransaction && lost.isInvalidated && !book.isInvalidated && book.pages == 1)
      #expect(book.title == "changed" && author.books.map(\.title) == ["changed"] && long.isEmpty)
      try store.add(Book(title: "later", pages: 7))
    }
    #expect(store.objects(Book.self).map(\.title) == ["changed", "later"] && long.map(\.title) == ["later"])
    #expect(lost.isInvalidated && author.books.count == 1)
  }

  @Test(arguments: Engine.allCases) func savepointsNest(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let number = try store.write {
      try store.savepoint {
        try store.add(Book(title: "outer"))
        do {
          try store.savepoint {
            try store.add(Book(title: "inner"))
            try store.savepoint { try store.add(Book(title: "innermost")) }
            #expect(store.objects(Book.self).count == 3)
            throw Stop(number: 2)
          }
        } catch let error as Stop {
          #expect(error.number == 2)
        }
        #expect(store.objects(Book.self).map(\.title) == ["outer"])
        try store.savepoint { try store.add(Book(title: "second")) }
        return 42
      }
    }
    #expect(number == 42 && store.objects(Book.self).map(\.title) == ["outer", "second"])
    #expect(throws: Stop(number: 3)) {
      try store.write {
        try store.savepoint { try store.savepoint { try store.add(Book(title: "third")) } }
        throw Stop(number: 3)
      }
    }
    #expect(store.objects(Book.self).count == 2)
  }

  @Test(arguments: Engine.allCases) func aSavepointNeedsAWriteThatStaysOpen(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    #expect { try store.savepoint {} } throws: { StoreError.Code.notInWrite ~= $0 }
    #expect {
      try store.write {
        try store.savepoint {
          try store.add(Book())
          store.cancelWrite()
        }
      }
    } throws: { StoreError.Code.notInWrite ~= $0 }
    #expect(store.objects(Book.self).isEmpty && !store.isInWriteTransaction)
  }

  @Test(arguments: Engine.allCases) func aWriteWhoseOnlyPartIsUndoneTellsNobody(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let before = store.version
    try store.write { try? store.savepoint { try store.add(Book()); throw Stop(number: 4) } }
    #expect(store.version == before)
  }
}
