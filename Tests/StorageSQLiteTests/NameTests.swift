import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// One file under several names, and names that change while the store is open.
@Suite struct NameTests {
  private let files = FileManager.default

  private func names(_ place: Place) throws -> [String] { try files.contentsOfDirectory(atPath: place.directory.url.path).sorted() }

  private func code(_ body: () throws -> Void) -> StorageError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? StorageError)?.code }
  }

  private func filled(_ place: Place, _ count: Int) throws -> (SQLiteEngine, TableEntry) {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<count { try write.insert(table, ["id": .int(Int64(id))]) } }
    return (engine, table)
  }

  @Test func aLinkLeadsToTheSameStoreWithItsLogInEveryProcess() async throws {
    let place = Place()
    let (engine, table) = try filled(place, 7)
    let link = place.directory.file("link.sqlite").path
    try files.createSymbolicLink(atPath: link, withDestinationPath: "store.sqlite")
    #expect(try SQLiteBackend(path: link).open(OpenOptions()) === engine)
    #expect(SQLiteBackend(path: link).isPresent())
    await #expect(processExitsWith: .success) { [link = link as String] in
      for isReadOnly in [true, false] {
        let engine = try SQLiteBackend(path: link).open(OpenOptions(isReadOnly: isReadOnly))
        let read = try engine.beginRead()
        #expect(try read.count(#require(read.catalog["Thing"]).id) == 7)
        read.end()
        engine.close()
      }
    }
    #expect(throws: StorageError.self) { try SQLiteBackend(path: link).remove() }
    #expect(try engine.beginRead().count(table.id) == 7)
    engine.close()
    // The data go, and the link leads nowhere from then on.
    try SQLiteBackend(path: link).remove()
    #expect(try names(place) == ["link.sqlite"])
    #expect(!SQLiteBackend(path: link).isPresent())
  }

  @Test func aStoreMadeByARelativePathStaysItselfWhenTheDirectoryChanges() async throws {
    let place = Place()
    try files.createDirectory(at: place.directory.file("elsewhere"), withIntermediateDirectories: false)
    await #expect(processExitsWith: .success) { [folder = place.directory.url.path as String] in
      try #require(chdir(folder) == 0)
      let engine = try SQLiteBackend(path: "a.sqlite").open(OpenOptions())
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try #require(chdir("elsewhere") == 0)
      // Each has a connection of its own.
      let reads = try (0..<3).map { _ in try engine.beginRead() }
      try engine.write { try $0.insert(table, ["id": .int(1)]) }
      let read = try engine.beginRead()
      #expect(try read.count(table.id) == 1)
      for read in reads + [read] { read.end() }
      #expect(try SQLiteBackend(path: "../a.sqlite").open(OpenOptions()) === engine)
      engine.close()
    }
    #expect(try files.contentsOfDirectory(atPath: place.directory.file("elsewhere").path) == [])
    #expect(try names(place) == ["a.sqlite", "a.sqlite.bell", "a.sqlite.coord", "elsewhere"])
  }

  @Test func aLinkThatLeadsNowhereYetIsWhereTheStoreIsMade() throws {
    let place = Place()
    let folder = place.directory.file("data")
    try files.createDirectory(at: folder, withIntermediateDirectories: false)
    let link = place.directory.file("link.sqlite").path
    let second = place.directory.file("second.sqlite").path
    try files.createSymbolicLink(atPath: link, withDestinationPath: "data/real.sqlite")
    try files.createSymbolicLink(atPath: second, withDestinationPath: link)
    let engine = try SQLiteBackend(path: second).open(OpenOptions())
    _ = try engine.adopt(.everything)
    #expect(try files.destinationOfSymbolicLink(atPath: link) == "data/real.sqlite")
    #expect(try SQLiteBackend(path: folder.appendingPathComponent("real.sqlite").path).open(OpenOptions()) === engine)
    #expect(try names(place) == ["data", "link.sqlite", "second.sqlite"])
  }

  @Test func theNameThatAFileWasWrittenUnderIsRemovedWhereAKilledProcessLeftIt() throws {
    let place = Place()
    let (engine, table) = try filled(place, 2)
    engine.close()
    let left = place.path + ".new-4711-1"
    try files.linkItem(atPath: place.path, toPath: left)
    #expect(try place.open().beginRead().count(table.id) == 2)
    #expect(!files.fileExists(atPath: left))
  }

  @Test func aFileWithASecondNameIsRefusedAlsoWhenItGetsOneLater() throws {
    let place = Place()
    let (engine, table) = try filled(place, 2)
    let other = place.directory.file("other.sqlite").path
    try files.linkItem(atPath: place.path, toPath: other)
    #expect(code { _ = try SQLiteBackend(path: other).open(OpenOptions(isReadOnly: true)) } == .hardLinked)
    let write = try engine.beginWrite(.never)
    try write.insert(table, ["id": .int(100)])
    #expect(code { _ = try write.commit(CommitRecord(), .full) } == .hardLinked)
    try files.removeItem(atPath: other)
    try engine.write { try $0.insert(table, ["id": .int(101)]) }
    #expect(try engine.beginRead().count(table.id) == 3)
    engine.close()
    try files.linkItem(atPath: place.path, toPath: other)
    #expect(code { _ = try place.open() } == .hardLinked)
    #expect(code { _ = try SQLiteBackend(path: other).open(OpenOptions()) } == .hardLinked)
    #expect(try names(place) == ["other.sqlite", "store.sqlite", "store.sqlite.bell", "store.sqlite.coord"])
  }

  enum Replacement: CaseIterable { case removed, replaced, logRemoved }

  @Test(arguments: Replacement.allCases) func nothingIsAcknowledgedThatANewOpenerDoesNotFind(_ how: Replacement) throws {
    let place = Place()
    let (engine, table) = try filled(place, 5)
    let (spare, _) = try filled(Place(), 1)
    withExtendedLifetime(spare) {}
    let write = try engine.beginWrite(.never)
    try write.insert(table, ["id": .int(100)])
    switch how {
    case .removed: try files.removeItem(atPath: place.path)
    case .replaced:
      let other = Place()
      let (second, _) = try filled(other, 1)
      second.close()
      #expect(rename(other.path, place.path) == 0)
    case .logRemoved: try files.removeItem(atPath: place.path + "-wal")
    }
    #expect(code { _ = try write.commit(CommitRecord(), .relaxed) } == .replaced)
    #expect(code { try engine.write { try $0.insert(table, ["id": .int(101)]) } } == .replaced)
  }

  @Test func anEmptyFileKeepsItsOwnerAndItsPermissions() throws {
    let place = Place()
    try Data().write(to: URL(fileURLWithPath: place.path))
    try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path)
    if geteuid() == 0 { #expect(chown(place.path, 12345, 12345) == 0) }
    let (engine, _) = try filled(place, 1)
    var info = stat()
    #expect(stat(place.path, &info) == 0)
    #expect(info.st_mode & 0o777 == 0o600)
    if geteuid() == 0 { #expect(info.st_uid == 12345 && info.st_gid == 12345) }
    engine.close()
  }

  @Test func anOpenThatFailsLeavesNoFiles() throws {
    let place = Place()
    #expect(code { _ = try place.open(OpenOptions(createsIfMissing: false)) } == .fileNotFound)
    #expect(code { _ = try SQLiteBackend(path: place.path + "/below/x").open(OpenOptions()) } == .fileNotFound)
    // Its folder is no folder the store can be put into.
    try files.createDirectory(atPath: place.path + ".coord", withIntermediateDirectories: false)
    #expect(code { _ = try place.open() } != nil)
    #expect(try names(place) == ["store.sqlite.coord"])
  }
}
