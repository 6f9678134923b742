import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import Testing
import Vivarium
import VivariumTestSupport

/// Stores that are restored of a full copy and what changed after it.
@Suite struct StoreIncrementTests {
  private static let files: [Engine] = [.lmdb, .sqlite]

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test(arguments: files) func aStoreIsRestoredOfACopyAndItsIncrements(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    let folder = TemporaryDirectory("backups")
    let (monday, tuesday, wednesday) = (folder.file("monday.store"), folder.file("tuesday"), folder.file("wednesday"))
    let store = try Store(configuration)
    let author = Author(name: "Anna")
    let books = ["A", "B", "C"].map { Book(title: $0) }
    try store.write {
      try store.add(author)
      try store.add(books)
      author.books = [books[0], books[1]]
    }
    let version = try store.writeCopy(to: monday)
    #expect(version == store.version)
    try store.write {
      books[1].title = "B, again"
      author.books.append(books[2])
      try store.delete(books[0])
    }
    let next = try store.writeCopy(to: tuesday, since: version)
    try store.write { try store.add(Book(title: "D")) }
    #expect(try store.writeCopy(to: wednesday, since: next) == store.version)
    let reference = author.reference
    let lost = engine.configuration(directory.file("restored"))
    let restored = try Store.restore(lost, from: monday.path, increments: [tuesday.path, wednesday.path])
    let found = try Store(lost)
    #expect(restored == store.version && found.version == restored)
    #expect(found.objects(Book.self).map(\.title) == ["B, again", "C", "D"])
    #expect(found.resolve(reference)?.books.map(\.title) == ["B, again", "C"])
    #expect(found.objects(Book.self).first?.authors.count == 1)
    // Whoever had seen the copy's version is told the same as beside the source.
    #expect(try found.commits(since: version).map(\.version) == store.commits(since: version).map(\.version))
    #expect(code { _ = try Store.restore(lost, from: monday.path) } == .fileExists)
    let other = engine.configuration(directory.file("other"))
    #expect(code { try Store.restore(other, from: monday.path, increments: [wednesday.path]) } == .wrongIncrement)
  }

  @Test(arguments: files) func whatNeedsAFullCopySaysSo(engine: Engine) throws {
    let (configuration, directory) = engine.place([Author.self, Book.self])
    let folder = TemporaryDirectory("backups")
    var store: Store? = try Store(configuration)
    let version = try #require(store).writeCopy(to: folder.file("full"))
    store = nil
    let changed = try Store(engine.configuration(directory.file(), [Author.self, Book.self, Hub.self, Spoke.self]))
    let error = #expect(throws: StoreError.self) { try changed.writeCopy(to: folder.file("increment"), since: version) }
    #expect(error?.code == .needsFullCopy && error?.remedy?.contains("full copy") == true)
    try changed.beginWrite()
    #expect(code { try changed.writeCopy(to: folder.file("increment"), since: changed.version) } == .alreadyInWrite)
    changed.cancelWrite()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { $0.hasPrefix("full") })
  }

  @Test func aStoreInMemoryHasNoCopyAnIncrementCouldFollow() throws {
    let (configuration, directory) = Engine.memory.place()
    let store = try Store(configuration)
    #expect(code { try store.writeCopy(to: directory.file("x"), since: store.version) } == .unsupported)
    #expect(code { _ = try Store.restore(configuration, from: directory.file("x").path) } == .unsupported)
  }

  @Test(arguments: files) func aRestoredPrivateStoreIsItsOwnersAlone(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    let (full, increment) = (directory.file("full"), directory.file("increment"))
    let store = try Store(configuration)
    let version = try store.writeCopy(to: full)
    try store.write { try store.add(Book(title: "A")) }
    try store.writeCopy(to: increment, since: version)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: full.path)
    for isPrivate in [false, true] {
      var restored = engine.configuration(directory.file("restored \(isPrivate)"))
      restored.options.isPrivate = isPrivate
      let name = URL(fileURLWithPath: restored.backend.location).lastPathComponent
      var (looks, open) = (0, Set<String>())
      try Store.restore(restored, from: full.path, increments: [increment.path]) { _ in
        // Whatever it is made of lies beside its place.
        for file in names(directory).filter({ $0.hasPrefix(name) }) {
          looks += 1
          if mode(directory.file(file).path) != 0o600 { open.insert(file) }
        }
        return true
      }
      #expect(looks > 0 && (!isPrivate || open.isEmpty), "\(open)")
      #expect(mode(restored.backend.location) == (isPrivate ? 0o600 : 0o644))
    }
  }

  private func names(_ directory: TemporaryDirectory) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: directory.url.path)) ?? []
  }

  private func mode(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
  }
}
