import Foundation
import StorageInterface
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Who holds which version, and how many they may be.
@Suite struct VersionTests {
  @Test(arguments: Engine.allCases) func holdersAreListedWithLabelPlaceAndAge(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.label = "list window"
    let old = try Store(configuration)
    configuration.label = nil
    let writer = try Store(configuration)
    let before = old.version
    for _ in 0..<3 { try writer.write { try writer.add(Book()) } }
    let held = try writer.heldVersions()
    #expect(held.map(\.version) == [before, writer.version])
    #expect(held[0].label == "list window" && held[1].label == nil)
    #expect(held[0].place?.hasPrefix("IntegrationTests/VersionTests.swift:") == true)
    #expect(held.allSatisfy { $0.processID == ProcessInfo.processInfo.processIdentifier && $0.age != nil })
    let age = try #require(held[0].age)
    #expect(try #require(writer.heldVersions()[0].age) >= age)
    old.refresh()
    #expect(try writer.heldVersions().map(\.version) == [writer.version, writer.version])
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func holdersInOtherProcessesAreListedWithLabelAndAge(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { try store.add(Book(title: "A")) }
    let held = store.version
    let (path, name) = (configuration.backend.location, engine.rawValue)
    let child = ExitingChild(output: path + ".output")
    let holder = child.whenMade(path + ".reads") {
      // Also where this fails, so that the child ends.
      defer { try? Data().write(to: URL(fileURLWithPath: path + ".listed")) }
      let writer = try Store(configuration)
      try writer.write { try writer.add(Book(title: "B")) }
      return try writer.heldVersions().first { $0.processID != ProcessInfo.processInfo.processIdentifier }
    }
    await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
      ExitingChild.redirectOutput(to: path + ".output")
      var configuration = try #require(Engine(rawValue: name)).configuration(URL(fileURLWithPath: path))
      configuration.label = "the other program"
      let store = try Store(configuration)
      try Data().write(to: URL(fileURLWithPath: path + ".reads"))
      while !FileManager.default.fileExists(atPath: path + ".listed") { sched_yield() }
      #expect(store.objects(Book.self).map(\.title) == ["A"])
    }
    child.end()
    let found = try await holder.value
    #expect(found?.label == "the other program" && found?.version == held && found?.place == nil)
    #expect(try #require(found?.age) >= .zero)
    #expect(try store.heldVersions().allSatisfy { $0.label == nil })
  }

  @Test(arguments: Engine.allCases) func tooManyVersionsRefuseTheNextWriteAndNameTheHolder(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.label = "forgotten"
    let old = try Store(configuration)
    configuration.label = nil
    configuration.versions.maximumCount = 5
    let writer = try Store(configuration)
    for _ in 0..<4 { try writer.write { try writer.add(Book()) } }
    let error = #expect(throws: StoreError.self) { for _ in 0..<2 { try writer.write { try writer.add(Book()) } } }
    #expect(error?.code == .tooManyVersions && error?.message.contains("'forgotten'") == true)
    #expect(!writer.isInWriteTransaction)
    let count = writer.objects(Book.self).count
    old.refresh()
    try writer.write { try writer.add(Book()) }
    #expect(writer.objects(Book.self).count == count + 1)
  }

  @Test func whatAForgottenReaderKeepsIsBoundedInBytesAndTheHolderNamed() throws {
    var (configuration, directory) = Engine.lmdb.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.label = "forgotten"
    let old = try Store(configuration)
    configuration.label = nil
    configuration.versions = VersionPolicy(warningCount: 4, maximumBytes: 1 << 20)
    let writer = try Store(configuration)
    func write(_ number: Int) throws {
      try writer.write { try writer.add(Book(title: String(repeating: "\(number) ", count: 20_000))) }
    }
    for number in 0..<20 { try write(number) }
    let error = #expect(throws: StoreError.self) {
      for number in 0..<2_000 {
        try writer.write { writer.objects(Book.self)[number % 20].title = String(repeating: "\(number) ", count: 20_000) }
      }
    }
    #expect(error?.code == .tooManyVersions && error?.message.contains("'forgotten'") == true)
    #expect(try writer.statistics().heldBytes >= 1 << 20 && writer.statistics().heldBytes < 16 << 20)
    old.refresh()
    try write(20)
    #expect(writer.objects(Book.self).count == 21)
  }

  @Test(arguments: Engine.allCases) func anExpiredStoreMovesAtItsNextTurn(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.autorefresh = false
    configuration.versions.expiresAfter = .zero
    let queue = DispatchQueue(label: "test.expiry")
    let told = Signal()
    let resting = try queue.sync { try Resting(configuration, queue, told) }
    let writer = try Store(configuration)
    for _ in 0..<20 {
      try writer.write { try writer.add(Book()) }
      #expect(told.wait { queue.sync { resting.version } == writer.version })
    }
    queue.sync { resting.end() }
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func underAPolicyAHeldVersionDoesNotGrowTheFile(engine: Engine) throws {
    let (free, held) = (try growth(engine, expiresAfter: .zero), try growth(engine, expiresAfter: nil))
    // The same commits, with the version held and without.
    #expect(free <= 6 << 20 && held >= 2 * free, "\(free) and \(held) bytes")
  }

  /// By how many bytes the files of a store grow in many small commits beside a reader that does not follow by itself.
  private func growth(_ engine: Engine, expiresAfter: Duration?) throws -> Int {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.durability = .relaxed
    configuration.autorefresh = false
    configuration.versions.expiresAfter = expiresAfter
    let queue = DispatchQueue(label: "test.growth")
    let told = Signal()
    let resting = try queue.sync { try Resting(configuration, queue, told) }
    let writer = try Store(configuration)
    try writer.write { for i in 0..<2_000 { try writer.add(Book(title: String(repeating: "\(i) ", count: 40), pages: i)) } }
    let books = Array(writer.objects(Book.self))
    // More than SQLite's log has before it begins anew. The history of many commits is as long as it gets before the growth is measured.
    let count = environmentNumber("VIVARIUM_HELD_COMMITS", default: engine == .sqlite ? 4_000 : 1_200)
    let begun = count > 24_000 ? 12_000 : 0
    var before = 0
    for commit in 0..<begun + count {
      if commit == begun { before = try writer.statistics().fileBytes }
      try writer.write { books[commit % books.count].title = String(repeating: "\(commit) ", count: 40) }
      if expiresAfter != nil, commit % 50 == 0 { #expect(told.wait { queue.sync { resting.version } == writer.version }) }
    }
    let after = try writer.statistics().fileBytes
    queue.sync { resting.end() }
    return after - before
  }

  @Test(arguments: Engine.allCases) func anInvalidatedStoreHoldsNothingAndComesBack(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (store, other) = (try Store(configuration), try Store(configuration))
    let author = Author(name: "A")
    author.books = [Book(title: "B")]
    try store.write { try store.add(author) }
    other.refresh()
    let books = store.objects(Book.self)
    #expect(books.count == 1)
    store.invalidate()
    #expect(try other.heldVersions().count == 1)
    #expect(books.isEmpty && author.isInvalidated && author.books.isEmpty && author.name == "")
    #expect(store.object(Author.self, forPrimaryKey: "A") == nil)
    store.invalidate()
    #expect(store.refresh())
    #expect(books.map(\.title) == ["B"] && !author.isInvalidated && author.books.count == 1)
    store.invalidate()
    try store.write { author.books[0].title = "C" }
    #expect(books.map(\.title) == ["C"])
    #expect(try other.heldVersions().count == 2)
  }

  /// Also where an observer wants to see what objects were, and has yet to be told.
  @Test(arguments: Engine.allCases) func anInvalidatedStoreKeepsNoOldValues(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (store, other) = (try Store(configuration), try Store(configuration))
    let books = (1...3).map { Book(title: "\($0)", pages: $0) }
    try other.write { try other.add(books) }
    store.refresh()
    var told: [String] = []
    let token = try store.objects(Book.self).observe(includingOldValues: true) { change in
      guard let details = change.details else { return }
      told.append("\(details.deletedIDs.count) \(details.deletedObjects(Book.self).map(\.title))")
    }
    store.refresh()
    try other.write { try other.delete(books[0]) }
    store.invalidate()
    func pinned() throws -> Set<Version> {
      _ = other.notifierWork
      return Set(try other.statistics().pins.map(\.version))
    }
    #expect(try pinned() == [other.version] && other.heldVersions().map(\.version).allSatisfy { $0 == other.version })
    for page in 10..<13 { try other.write { books[1].pages = page } }
    #expect(try pinned() == [other.version])
    store.refresh()
    #expect(told == ["1 []"])
    // From then on there are old values again.
    try other.write { try other.delete(books[1]) }
    store.refresh()
    #expect(told == ["1 []", "1 [\"2\"]"])
    token.stop()
  }

  @Test func invalidatingInAWriteUndoesIt() throws {
    let (configuration, directory) = Engine.lmdb.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.beginWrite()
    try store.add(Book())
    store.invalidate()
    #expect(!store.isInWriteTransaction)
    store.refresh()
    #expect(store.objects(Book.self).isEmpty)
  }
}

/// A store that rests on its queue. Touched there alone.
private final class Resting: @unchecked Sendable {
  // Sound because the tests use it inside `queue.sync` alone.
  private var store: Store?
  private var token: NotificationToken?

  init(_ configuration: Store.Configuration, _ queue: DispatchQueue, _ told: Signal) throws {
    let opened = try Store(configuration, queue: queue)
    token = opened.observe { _, _ in told.fire() }
    store = opened
  }

  var version: Version? { store?.version }

  func end() {
    token?.stop()
    store = nil
  }
}
