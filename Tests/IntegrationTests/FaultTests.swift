import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// The disk fills up, or too many read, in the middle of anything: a typed error, and a store that is usable and shows
/// what is on the disk.
@Suite struct FaultTests {
  @Model final class Shelf {
    @PrimaryKey var name = ""
    var tags: LiveSet<String>
    var counts: LiveMap<Int>
  }

  @Test(arguments: Engine.allCases, [Fault.full, .broken, .crowded])
  func afterAFaultTheStoreShowsWhatIsThere(engine: Engine, fault: Fault) throws {
    var calls = 1
    var faults = 0
    while calls < 200 {
      let (configuration, directory) = engine.place([Author.self, Book.self, Shelf.self])
      defer { withExtendedLifetime(directory) {} }
      let keeper = try Store(configuration)
      let plan = FaultPlan(fault)
      var faulty = configuration
      faulty.backend = ForwardingBackend(configuration.backend) { FaultyEngine($0, plan) }
      let store = try Store(faulty)
      plan.arm(at: calls)
      var error: (any Error)?
      do { try work(store) } catch let failure { error = failure }
      // The last round went through without meeting the fault.
      let wasMet = plan.disarm()
      if !wasMet { break }
      faults += 1
      // A read that does not begin behind a commit leaves the store at the version before, and the commit stands.
      let isTold = (error as? StoreError)?.code == fault.code || fault == .crowded && error == nil
      #expect(isTold, "call \(calls): \(String(describing: error))")
      #expect(!store.isInWriteTransaction)
      keeper.refresh()
      store.refresh()
      #expect(picture(store) == picture(keeper), "call \(calls)")
      try store.write { try store.add(Author(name: "after")) }
      keeper.refresh()
      #expect(picture(store) == picture(keeper) && store.object(Author.self, forPrimaryKey: "after") != nil, "call \(calls)")
      calls += 1
    }
    // Each call of the work was hit once. A read begins where a write ends: three.
    #expect(faults >= (fault == .crowded ? 3 : 22), "\(faults)")
  }

  /// Writes of every kind, one that is undone, one with a savepoint, one that deletes many together.
  private func work(_ store: Store) throws {
    let author = Author(name: "A")
    author.books = LiveList((0..<3).map { Book(title: "\($0)", pages: $0) })
    try store.write { try store.add(author) }
    try store.write {
      author.books[0].title = "changed"
      author.books.remove(at: 1)
      try store.savepoint { try store.add(Book(title: "in a savepoint")) }
      try store.delete(store.objects(Book.self).where { $0.pages == 2 })
    }
    do {
      try store.write {
        try store.add(Book(title: "undone"))
        throw CancellationError()
      }
    } catch is CancellationError {}
    let shelf = Shelf(name: "S")
    try store.write {
      try store.add(shelf)
      shelf.tags.insert("a")
      shelf.counts["a"] = 1
      shelf.counts["b"] = 2
    }
    try store.write {
      shelf.tags.remove("a")
      shelf.tags.insert("b")
      shelf.counts["a"] = nil
    }
    try store.write { try store.add(Author(name: "B", born: .distantPast)) }
  }

  private func picture(_ store: Store) -> [String] {
    store.objects(Author.self).map { "\($0.name) \($0.books.map(\.title)) \(String(describing: $0.born))" }
      + store.objects(Book.self).map { "\($0.title) \($0.pages) \($0.authors.count)" }
      + store.objects(Shelf.self).map { "\($0.tags.sorted()) \($0.counts["a"] ?? 0) \($0.counts["b"] ?? 0)" }
  }

  /// What a call fails with.
  enum Fault: Sendable, CaseIterable {
    case full, broken, crowded

    var error: StorageError {
      switch self {
      case .full: StorageError(.outOfDiskSpace, .transaction, "The disk is full.")
      case .broken: StorageError(.io, .statement, "The disk is broken.")
      case .crowded: StorageError(.tooManyReaders, .statement, "Too many read.")
      }
    }

    var code: StoreError.Code { StoreError.Code(rawValue: error.code.rawValue) }
  }
}
