import Dispatch
import Foundation
import Testing
import Vivarium
import VivariumTestSupport

/// What may be wrong with a file, or a model, is an error that says so.
@Suite struct OpeningTests {
  static let files: [Engine] = [.lmdb, .sqlite]

  @Test(arguments: files) func aMissingFileIsMadeOnlyWhenThatIsWanted(engine: Engine) throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.options.createsIfMissing = false
    #expect(refusal(configuration) == .fileNotFound)
    #expect(!FileManager.default.fileExists(atPath: directory.file().path))
    configuration.options.createsIfMissing = true
    #expect(refusal(configuration) == nil)
    #expect(FileManager.default.fileExists(atPath: directory.file().path))
  }

  @Test(arguments: files) func aForeignFileIsRefusedAndLeftAsItIs(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    let text = Data("Dear diary, this is no database at all. It goes on like this for a while, and then it ends.".utf8)
    try text.write(to: directory.file())
    #expect(refusal(configuration) == .foreignFile)
    #expect(try Data(contentsOf: directory.file()) == text)
  }

  @Test(arguments: files) func oneEnginesFileIsForeignToTheOther(engine: Engine) throws {
    let directory = TemporaryDirectory("integration")
    try fill(engine.configuration(directory.file()))
    let other = engine == .lmdb ? Engine.sqlite : .lmdb
    #expect(refusal(other.configuration(directory.file())) == .foreignFile)
    #expect(refusal(engine.configuration(directory.file())) == nil)
  }

  @Test(arguments: files) func aFileThatWasCutOffIsCorrupt(engine: Engine) throws {
    let directory = TemporaryDirectory("integration")
    try fill(engine.configuration(directory.file()))
    let whole = try Data(contentsOf: directory.file())
    try whole.prefix(whole.count / 2).write(to: directory.file("half"))
    #expect(refusal(engine.configuration(directory.file("half"))) == .corrupt)
    try whole.write(to: directory.file("whole"))
    #expect(try Store(engine.configuration(directory.file("whole"))).objects(Book.self).count == 2_000)
  }

  @Test(arguments: files) func aFileOfANewerBuildIsNamedAsThat(engine: Engine) throws {
    let directory = TemporaryDirectory("integration")
    try fill(engine.configuration(directory.file()))
    var bytes = try Data(contentsOf: directory.file())
    if engine == .sqlite {
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])  // PRAGMA user_version
    } else {
      let mark = Data("VIVARIUM".utf8)
      var from = bytes.startIndex
      while let found = bytes.range(of: mark, in: from..<bytes.endIndex) {
        bytes[found.upperBound] = 99
        from = found.upperBound
      }
    }
    try bytes.write(to: directory.file("newer"))
    let error = #expect(throws: StoreError.self) { try Store(engine.configuration(directory.file("newer"))) }
    #expect(error?.code == .unsupportedVersion && error?.remedy?.contains("newer build") == true)
  }

  @Test(arguments: Engine.allCases) func aModelWithASuperclassIsRefused(engine: Engine) throws {
    let (configuration, directory) = engine.place([Derived.self, Author.self, Book.self])
    let error = #expect(throws: StoreError.self) { try Store(configuration) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.details["faults"] == "Derived: inherits from 'Base', and a model has no superclass")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
  }

  @Test(arguments: Engine.allCases) func aStoreOpensOffTheCaller(engine: Engine) async throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let shelf = Shelf()
    #expect(try await shelf.open(configuration, adding: "A") == ["A"])
    #expect(try await shelf.heard() == 1)
    let here = try await Store.open(configuration)
    try here.write { try here.add(Book(title: "B")) }
    #expect(here.objects(Book.self).map(\.title).last == "B")
  }

  @Test(arguments: files) func anOpeningThatFailsElsewhereThrowsHere(engine: Engine) async throws {
    var (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    configuration.options.createsIfMissing = false
    do {
      _ = try await Store.open(configuration)
      Issue.record("opened")
    } catch {
      #expect(error.code == .fileNotFound)
    }
  }

  private func refusal(_ configuration: Store.Configuration) -> StoreError.Code? {
    do throws(StoreError) {
      _ = try Store(configuration)
      return nil
    } catch {
      return error.code
    }
  }

  private func fill(_ configuration: Store.Configuration) throws {
    let store = try Store(configuration)
    try store.write { for i in 0..<2_000 { try store.add(Book(title: "Book number \(i)", pages: i)) } }
  }
}

/// A store on an actor that hears of its own commit.
private actor Shelf {
  private var store: Store?
  private var token: NotificationToken?
  private var count = 0
  private var waiting: CheckedContinuation<Void, Never>?

  func open(_ configuration: Store.Configuration, adding title: String) async throws -> [String] {
    let store = try await Store.open(configuration)
    self.store = store
    token = store.observe { [weak self] _, _ in self?.assumeIsolated { $0.told() } }
    try store.write { try store.add(Book(title: title)) }
    return store.objects(Book.self).map(\.title)
  }

  private func told() {
    count += 1
    waiting?.resume()
    waiting = nil
  }

  func heard() async throws -> Int {
    if count == 0 { await withCheckedContinuation { waiting = $0 } }
    token?.stop()
    return count
  }
}
