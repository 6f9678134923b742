import Foundation
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import Vivarium

/// A type that the seed has otherwise.
enum Numbered {
  @Model final class Book { var title = 0 }
}

/// A seed with three books in a folder of its own, as it was written for shipping, and a place where a store may begin with it.
struct SeedPlace: Sendable {
  static let titles = ["A", "B", "C"]
  let engine: Engine
  let seeds = TemporaryDirectory("seeds")
  let stores = TemporaryDirectory("stores")
  var seed: URL { seeds.file("seed") }
  var file: URL { stores.file() }

  init(_ engine: Engine, schemaVersion: UInt64 = 0) throws {
    self.engine = engine
    var configuration = engine.configuration(seeds.file("made"))
    configuration.schemaVersion = schemaVersion
    let store = try Store(configuration)
    try store.write {
      for title in SeedPlace.titles {
        let book = Book(title: title)
        book.cover = Data(repeating: 7, count: 50_000)
        try store.add(book)
      }
    }
    try store.writeCopy(to: seed)
  }

  var configuration: Store.Configuration { SeedPlace.configuration(engine, file, seed) }

  static func configuration(_ engine: Engine, _ file: URL, _ seed: URL) -> Store.Configuration {
    var configuration = engine.configuration(file)
    configuration.seedURL = seed
    return configuration
  }

  /// The titles in a store that is opened for that.
  static func titles(_ configuration: Store.Configuration) throws -> [String] {
    try Store(configuration).objects(Book.self).map(\.title).sorted()
  }

  /// The files in the store's folder.
  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: stores.url.path).sorted() }
}

/// What a new store that begins as the copy of a shipped file is, and what is refused.
@Suite struct SeedTests {
  static let files: [Engine] = [.lmdb, .sqlite]

  private func refusal(_ configuration: Store.Configuration) -> StoreError? {
    do throws(StoreError) {
      _ = try Store(configuration)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: files) func aMissingStoreBeginsAsACopyOfItsSeedAndGoesItsOwnWay(engine: Engine) throws {
    let place = try SeedPlace(engine)
    let bytes = try Data(contentsOf: place.seed)
    let reference: ObjectReference<Book>
    do {
      let made = try Store(engine.configuration(place.seeds.file("made")))
      reference = try #require(made.objects(Book.self).first).reference
    }
    do {
      let world = place.seed
      var configuration = engine.configuration(place.file)
      configuration.seedURL = world
      let store = try Store(configuration)
      #expect(store.objects(Book.self).map(\.title) == SeedPlace.titles)
      #expect(store.schemaChanges.isEmpty)
      // A copy has the identity of what was copied.
      #expect(store.resolve(reference)?.title == "A")
      try store.write { try store.add(Book(title: "D")) }
    }
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles + ["D"])
    // An existing file needs none.
    try FileManager.default.removeItem(at: place.seed)
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles + ["D"])
    try place.configuration.backend.remove()
    try bytes.write(to: place.seed)
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles)
    #expect(try Data(contentsOf: place.seed) == bytes)
  }

  @Test(arguments: files) func aSeedOfAnOlderProgramIsMigratedInTheCopy(engine: Engine) throws {
    let place = try SeedPlace(engine, schemaVersion: 2)
    var configuration = place.configuration
    configuration.schemaVersion = 3
    configuration.migration = { migration, oldVersion in
      #expect(oldVersion == 2)
      try migration.enumerateObjects(ofType: "Book") { old, new in try new?.set("title", to: .string("new \(old["title"])")) }
    }
    // What tries it out does not begin with an empty file.
    let report = try Store.dryRun(configuration)
    #expect(report.failure == nil && !report.isEmpty)
    #expect(try SeedPlace.titles(configuration) == ["new A", "new B", "new C"])
    #expect(try Store.schemaVersion(of: configuration) == 3)
    #expect(try Store.schemaVersion(of: engine.configuration(place.seed)) == 2)
  }

  @Test(arguments: files) func aSeedOfANewerProgramIsRefusedBeforeItIsCopied(engine: Engine) throws {
    let place = try SeedPlace(engine, schemaVersion: 5)
    let error = refusal(place.configuration)
    #expect(error?.code == .newerSchema && error?.remedy != nil)
    #expect(error?.message.contains(place.seed.path) == true)
    #expect(try place.names() == [])
  }

  @Test(arguments: files) func aMissingDamagedOrForeignSeedIsNamedAndLeavesNoFile(engine: Engine) throws {
    let place = try SeedPlace(engine)
    let whole = try Data(contentsOf: place.seed)
    let text = Data("Dear diary, this is no database at all. It goes on like this for a while, and then it ends.".utf8)
    let seeds: [(name: String, content: Data?, code: StoreError.Code)] = [
      ("missing", nil, .fileNotFound), ("half", whole.prefix(whole.count / 2), .corrupt), ("text", text, .foreignFile),
    ]
    for (name, content, code) in seeds {
      let seed = place.seeds.file(name)
      try content?.write(to: seed)
      let error = refusal(SeedPlace.configuration(engine, place.file, seed))
      #expect(error?.code == code && error?.remedy != nil, "\(name): \(String(describing: error))")
      #expect(error?.message.contains(seed.path) == true && error?.details["seed"] == seed.path)
      #expect(try place.names() == [])
    }
  }

  @Test(arguments: files) func aSeedIsNotUsedWhereNoFileIsToBeMade(engine: Engine) throws {
    let place = try SeedPlace(engine)
    for options in [OpenOptions(isReadOnly: true), OpenOptions(createsIfMissing: false)] {
      var configuration = place.configuration
      configuration.options = options
      #expect(refusal(configuration)?.code == .fileNotFound)
    }
    #expect(try Store.schemaVersion(of: place.configuration) == nil)
    #expect(try place.names() == [])
  }

  @Test(arguments: [Engine.memory, .reference]) func aStoreWithoutAFileSaysThatItTakesNoSeed(engine: Engine) throws {
    let place = try SeedPlace(.lmdb)
    #expect(refusal(SeedPlace.configuration(engine, place.file, place.seed))?.code == .unsupported)
  }

  @Test(arguments: files) func aForeignFileInThePlaceStaysAsItIs(engine: Engine) throws {
    let place = try SeedPlace(engine)
    let text = Data("Dear diary, this is no database at all. It goes on like this for a while, and then it ends.".utf8)
    try text.write(to: place.file)
    #expect(refusal(place.configuration)?.code == .foreignFile)
    #expect(try Data(contentsOf: place.file) == text)
  }

  @Test(arguments: files) func whatAnOlderStoreLeftIsNotInTheWayOfTheSeed(engine: Engine) throws {
    let place = try SeedPlace(engine)
    do {
      let store = try Store(place.configuration)
      try store.write { try store.delete(store.objects(Book.self)) }
    }
    try FileManager.default.removeItem(at: place.file)
    #expect(try !place.names().isEmpty)
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles)
    for name in try place.names() { try FileManager.default.removeItem(at: place.stores.file(name)) }
    try Data().write(to: place.file)
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles)
  }

  /// As do the locks of a child between its fork and its own program.
  @Test(arguments: files) func anOlderStoreThatIsClosingStillIsWaitedFor(engine: Engine) throws {
    let place = try SeedPlace(engine)
    var older: Store? = try Store(place.configuration)
    #expect(older?.objects(Book.self).count == 3)
    try FileManager.default.removeItem(at: place.file)
    var pauses = 0
    var seed = StoreSeed(path: place.seed.path, configuration: place.configuration, flag: nil)
    seed.pause = {
      pauses += 1
      if pauses == 100 { older = nil }
    }
    #expect(try seed.plant())
    #expect(pauses >= 100)
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles)
  }

  @Test(arguments: files) func aFileThatDoesNotFitMakesPlaceForTheSeedAndASeedThatDoesNotFitForAnEmptyStore(engine: Engine) throws {
    let place = try SeedPlace(engine)
    var configuration = place.configuration
    configuration.deletesIfMigrationNeeded = true
    configuration.models = [Numbered.Book.self]
    do {
      let store = try Store(configuration)
      #expect(store.objects(Numbered.Book.self).isEmpty)
      try store.write { try store.add(Numbered.Book(title: 1)) }
    }
    configuration.models = place.configuration.models
    #expect(try SeedPlace.titles(configuration) == SeedPlace.titles)
  }

  @Test(arguments: files) func anOpeningThatIsCancelledLeavesNoCopy(engine: Engine) async throws {
    let place = try SeedPlace(engine)
    let configuration = place.configuration
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      do throws(StoreError) {
        _ = try await Store.open(configuration) { _ in }
        return nil as StoreError.Code?
      } catch {
        return error.code
      }
    }
    #expect(await cancelled.value == .cancelled)
    #expect(try place.names() == [])
  }

  @Test(arguments: files) func theCopyOfAPrivateStoreIsItsOwnersAlone(engine: Engine) async throws {
    let place = try SeedPlace(engine)
    let (folder, seed) = (place.stores.url.path, place.seed.path)
    await #expect(processExitsWith: .success) { [folder = folder as String, seed = seed as String, name = engine.rawValue as String] in
      umask(0)
      let engine = try #require(Engine(rawValue: name))
      chmod(seed, 0o644)
      var configuration = SeedPlace.configuration(engine, URL(fileURLWithPath: folder + "/store"), URL(fileURLWithPath: seed))
      configuration.options.isPrivate = true
      let store = try Store(configuration)
      try store.write { try store.add(Book(title: "D")) }
      #expect(store.objects(Book.self).count == 4)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        let mode = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600 && !name.contains(".new-"), "\(name)")
      }
    }
    #expect(try SeedPlace.titles(place.configuration) == SeedPlace.titles + ["D"])
  }
}
