import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Where stores are, and what is one.
@Suite struct FileTests {
  @Test func aURLThatIsNoFilesIsRefusedByItsName() throws {
    let url = try #require(URL(string: "https://example.com/shop.lmdb"))
    for configuration in [StoreConfiguration.lmdb(url, models: Author.self, Book.self), .sqlite(url, models: Author.self, Book.self)] {
      let error = #expect(throws: StoreError.self) { try Store(configuration) }
      #expect(error?.code == .fileNotFound)
      #expect(error?.message.contains("https://example.com/shop.lmdb") == true, "\(String(describing: error))")
    }
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func everyPathToAFileIsTheSameStore(engine: Engine) throws {
    let directory = TemporaryDirectory("paths")
    let file = directory.file("Bücher und 文書.store")
    let first = try Store(engine.configuration(file))
    // Two symbolic links: a file has one name of its own, by which its side files are found.
    let links = (directory.file("soft"), directory.file("softer"))
    try FileManager.default.createSymbolicLink(at: links.0, withDestinationURL: file)
    try FileManager.default.createSymbolicLink(at: links.1, withDestinationURL: links.0)
    try FileManager.default.createDirectory(at: directory.file("inner"), withIntermediateDirectories: false)
    let winding = URL(fileURLWithPath: directory.url.path + "/inner/.././" + file.lastPathComponent)
    var stores = [first]
    for url in [links.0, links.1, winding] { stores.append(try Store(engine.configuration(url))) }
    try stores[1].write { try stores[1].add(Book(title: "by the link")) }
    for store in stores {
      store.refresh()
      #expect(store.objects(Book.self).map(\.title) == ["by the link"])
      // One engine: each sees all four.
      #expect(try store.heldVersions().filter { $0.label == nil && $0.place != nil }.count == 4)
    }
  }

  /// Nobody commits to the file that it has open, and so nothing else would tell it.
  @MainActor @Test func anObserverHearsThatTheFileIsGone() async throws {
    let (made, directory) = Engine.lmdb.place()
    var configuration = made
    configuration.manualDelivery = false
    let store = try Store(configuration)
    try store.write { try store.add(Book(title: "A")) }
    let (errors, teller) = AsyncStream<StoreError>.makeStream()
    let token = store.objects(Book.self).observe { change in if case .error(let error) = change { teller.yield(error) } }
    defer { token.stop() }
    try FileManager.default.removeItem(at: directory.file())
    var received = errors.makeAsyncIterator()
    #expect(await received.next()?.code == .replaced)
    // What it shows is of the version that it holds.
    #expect(store.objects(Book.self).map(\.title) == ["A"])
    #expect(!store.refresh())
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func aLongNameIsAName(engine: Engine) throws {
    let directory = TemporaryDirectory("paths")
    let store = try Store(engine.configuration(directory.file(String(repeating: "long ", count: 46))))
    try store.write { try store.add(Book()) }
    #expect(store.objects(Book.self).count == 1)
  }

  @Test func aNamedStoreInMemoryIsSharedAndEndsWithTheLast() throws {
    let name = UUID().uuidString
    func configuration() -> Store.Configuration { .memory(name, models: Author.self, Book.self) }
    do {
      let one = try Store(configuration())
      try one.write { try one.add(Book(title: "A")) }
      let two = try Store(configuration())
      #expect(two.objects(Book.self).map(\.title) == ["A"])
      let other = try Store(.memory(models: Author.self, Book.self))
      #expect(other.objects(Book.self).isEmpty)
    }
    #expect(try Store(configuration()).objects(Book.self).isEmpty)
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func spaceIsUsedAgain(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    func fill(_ round: Int) throws {
      try store.write {
        try store.delete(store.objects(Book.self))
        for i in 0..<3_000 { try store.add(Book(title: "round \(round) book \(i)", pages: i)) }
      }
    }
    for round in 0..<4 { try fill(round) }
    let early = try store.statistics().fileBytes
    for round in 4..<16 { try fill(round) }
    #expect(store.objects(Book.self).count == 3_000)
    // SQLite's log is bounded by itself, at 16 MB.
    #expect(try store.statistics().fileBytes <= 2 * early + (engine == .sqlite ? 16 << 20 : 0))
  }

  @Test(arguments: Engine.allCases) func compactingGivesSpaceBackAndKeepsEverything(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { for i in 0..<4_000 { try store.add(Book(title: String(repeating: "\(i) ", count: 150), pages: i)) } }
    try store.write { try store.delete(store.objects(Book.self).where { $0.pages >= 100 }) }
    let before = try store.statistics().fileBytes
    let given = try store.compact()
    switch engine {
    case .lmdb: #expect(given > 1_000_000)
    // This store still reads the log as it was; the file gets shorter once nobody does.
    case .sqlite: #expect(try store.statistics().freeBytes == 0)
    default: #expect(given == 0 && before == 0)
    }
    #expect(store.objects(Book.self).map(\.pages) == Array(0..<100))
    #expect(store.objects(Book.self).first?.title == String(repeating: "0 ", count: 150))
    // Reads, writes and other stores go on.
    let other = try Store(configuration)
    try other.write { try other.add(Book(title: "new", pages: 5_000)) }
    store.refresh()
    #expect(store.objects(Book.self).count == 101)
    try store.beginWrite()
    #expect { try store.compact() } throws: { StoreError.Code.alreadyInWrite ~= $0 }
    store.cancelWrite()
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func aFileIsCompactedAtOpenWhenThatIsWanted(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let before: Int
    do {
      let store = try Store(configuration)
      try store.write { for i in 0..<3_000 { try store.add(Book(title: String(repeating: "\(i) ", count: 150), pages: i)) } }
      try store.write { try store.delete(store.objects(Book.self).where { $0.pages >= 10 }) }
      before = try store.statistics().fileBytes
    }
    let asked = Mutex((fileBytes: 0, liveBytes: 0))
    configuration.compactsWhenOpened = { fileBytes, liveBytes in
      asked.withLock { $0 = (fileBytes, liveBytes) }
      return fileBytes > 2 * liveBytes
    }
    let store = try Store(configuration)
    let (fileBytes, liveBytes) = asked.withLock { $0 }
    #expect(fileBytes > 2 * liveBytes && liveBytes > 0)
    #expect(try store.statistics().fileBytes < min(before, fileBytes) - 500_000)
    #expect(store.objects(Book.self).map(\.pages) == Array(0..<10))
  }

  /// What is left says how long a compacted file may be, and not what it has held.
  @Test(arguments: [Engine.lmdb, .sqlite]) func aCompactedFileIsAtMostTwiceWhatIsLeftInIt(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let (all, left, text) = (3_000, 300, String(repeating: "0123456789", count: 600))
    // LMDB returns by itself what exceeds twice the contents by 4 MB; SQLite keeps a log of 8 MB at most.
    let constant = engine == .lmdb ? 5 << 20 : 9 << 20
    func check(_ store: Store) throws {
      #expect(store.objects(Book.self).count == left)
      let statistics = try store.statistics()
      #expect(statistics.fileBytes <= 2 * statistics.liveBytes + constant, "\(statistics)")
      // Live is what the objects take, and not what was allocated for others.
      #expect(statistics.liveBytes <= 2 * left * text.utf8.count + (1 << 20), "\(statistics)")
    }
    do {
      let store = try Store(configuration)
      try store.write { for i in 0..<all { try store.add(Book(title: text, pages: i)) } }
      #expect(try store.statistics().fileBytes > all * text.utf8.count)
      try store.write { try store.delete(store.objects(Book.self).where { $0.pages >= left }) }
      if engine == .lmdb {
        try store.compact()
        try check(store)
      }
    }
    // A file of SQLite is rewritten, and gets shorter while nobody reads it (Docs/Decisions/0051).
    configuration.compactsWhenOpened = { fileBytes, liveBytes in fileBytes > 2 * liveBytes }
    try check(try Store(configuration))
  }

  @Test(arguments: Engine.allCases) func theDurabilityOfAStoreAndOfACommitReachTheEngine(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let seen = Mutex<[Durability]>([])
    let base = configuration.backend
    configuration.backend = ForwardingBackend(base) { engine in
      ForwardingEngine(engine, write: { DurabilityProbe($0) { durability in seen.withLock { $0.append(durability) } } })
    }
    configuration.durability = .grouped(within: .seconds(2))
    let store = try Store(configuration)
    seen.withLock { $0 = [] }
    try store.write { try store.add(Book()) }
    try store.write(durability: .relaxed) { try store.add(Book()) }
    try store.write(durability: .full) { try store.add(Book()) }
    try store.write(durability: .full) {}
    #expect(seen.withLock { $0 } == [.grouped(within: .seconds(2)), .relaxed, .full])
  }

  @Test(arguments: Engine.allCases) func aWriteMayStayOpenOverManyTurns(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let long = LongWriter()
    try await long.begin(configuration)
    for i in 0..<5 { try await long.add("\(i)") }
    #expect(try await long.commit() == ["0", "1", "2", "3", "4"])
  }
}

private final class DurabilityProbe: ForwardingWrite {
  let base: any WriteTransaction
  private let tell: (Durability) -> Void

  init(_ base: any WriteTransaction, _ tell: @escaping (Durability) -> Void) {
    self.base = base
    self.tell = tell
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    tell(durability)
    return try base.commit(record, durability)
  }
}

private actor LongWriter {
  private var store: Store?

  func begin(_ configuration: Store.Configuration) throws {
    let store = try Store(configuration)
    try store.beginWrite()
    self.store = store
  }

  func add(_ title: String) throws { try store?.add(Book(title: title)) }

  func commit() throws -> [String] {
    try store?.commitWrite()
    return store?.objects(Book.self).map(\.title) ?? []
  }
}
