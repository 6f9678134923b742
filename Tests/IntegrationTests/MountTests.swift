#if os(Linux)
import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A store that is found by several paths because its folder, or its file alone, is mounted at another place.
@Suite struct MountTests {
  private static let backends: [@Sendable (String) -> any StorageBackend] = [{ LMDBBackend(path: $0) }, { SQLiteBackend(path: $0) }]

  /// Two folders; in the first one is an open store with one object.
  private struct Place {
    let folder = TemporaryDirectory("mounts")
    let engine: any StorageEngine
    let table: TableEntry
    var first: URL { folder.file("first") }
    var second: URL { folder.file("second") }

    init(_ kind: Int) throws {
      for name in ["first", "second"] {
        try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
      }
      let engine = try backends[kind](folder.file("first").path + "/store").open(OpenOptions())
      self.engine = engine
      table = try #require(try engine.adopt(Schema([ObjectSchema("Item", .scalar("number", .int64, unique: true))]))["Item"])
      try engine.write(.full) { try $0.insert(table, ["number": .int(0)]) }
    }

    func count() throws -> Int {
      let read = try engine.beginRead()
      defer { read.end() }
      return try read.count(table.id)
    }
  }

  private static func code(_ body: () throws -> Void) -> StorageError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StorageError)?.code
    }
  }

  @Test(arguments: backends.indices) func aStoreInAMountedFolderIsOneStoreForAllProcesses(_ kind: Int) async throws {
    let place = try Place(kind)
    guard let mount = BindMount(place.first.path, at: place.second.path) else { return }
    defer { withExtendedLifetime(mount) {} }
    let path = place.second.path + "/store"
    #expect(try Self.backends[kind](path).open(OpenOptions()) === place.engine)
    // A write of this process is open meanwhile: who came by the other path has to wait for it.
    let write = try place.engine.beginWrite(.never)
    try write.insert(place.table, ["number": .int(1)])
    await #expect(processExitsWith: .success) { [path = path as String, kind = kind as Int] in
      let engine = try Self.backends[kind](path).open(OpenOptions())
      #expect(Self.code { _ = try engine.beginWrite(.after(.milliseconds(50))) } == .writeTimeout)
      #expect(Self.code { try Self.backends[kind](path).remove() } == .alreadyOpen)
      engine.close()
    }
    _ = try write.commit(CommitRecord(), .full)
    for number in 2..<5 {
      await #expect(processExitsWith: .success) { [path = path as String, kind = kind as Int, number = number as Int] in
        let engine = try Self.backends[kind](path).open(OpenOptions())
        let table = try #require(try engine.beginRead().catalog["Item"])
        #expect(try engine.beginRead().count(table.id) == number)
        try engine.write(.full) { try $0.insert(table, ["number": .int(Int64(number))]) }
        engine.close()
      }
      #expect(try place.count() == number + 1)
    }
    await #expect(processExitsWith: .success) { [path = path as String, kind = kind as Int] in
      let engine = try Self.backends[kind](path).open(OpenOptions(isReadOnly: true))
      let read = try engine.beginRead()
      #expect(try read.count(#require(read.catalog["Item"]).id) == 5)
    }
  }

  @Test(arguments: backends.indices) func aFileThatIsMountedByItselfIsRefusedWhoeverHasItOpen(_ kind: Int) async throws {
    let place = try Place(kind)
    let path = place.second.path + "/store"
    try Data().write(to: URL(fileURLWithPath: path))
    guard let mount = BindMount(place.first.path + "/store", at: path) else { return }
    defer { withExtendedLifetime(mount) {} }
    // In the process that has it open there is no second store.
    let same = try? Self.backends[kind](path).open(OpenOptions())
    #expect(same == nil || same === place.engine)
    for isOpen in [true, false] {
      if !isOpen { place.engine.close() }
      await #expect(processExitsWith: .success) { [path = path as String, kind = kind as Int] in
        for isReadOnly in [false, true] {
          #expect(Self.code { _ = try Self.backends[kind](path).open(OpenOptions(isReadOnly: isReadOnly)) } == .hardLinked)
        }
      }
    }
    #expect(Self.code { _ = try Self.backends[kind](path).open(OpenOptions(isReadOnly: true)) } == .hardLinked)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.second.path) == ["store"])
    let engine = try Self.backends[kind](place.first.path + "/store").open(OpenOptions())
    #expect(try engine.beginRead().count(place.table.id) == 1)
  }

  @Test(arguments: backends.indices) func anEmptyFileThatIsMountedByItselfBecomesNoStore(_ kind: Int) throws {
    let place = try Place(kind)
    let (source, path) = (place.first.path + "/empty", place.second.path + "/empty")
    for file in [source, path] { try Data().write(to: URL(fileURLWithPath: file)) }
    guard let mount = BindMount(source, at: path) else { return }
    defer { withExtendedLifetime(mount) {} }
    #expect(Self.code { _ = try Self.backends[kind](path).open(OpenOptions()) } == .hardLinked)
    #expect(try Data(contentsOf: URL(fileURLWithPath: source)).isEmpty)
  }

  @Test(arguments: backends.indices) func aFileThatIsMountedOverAnOpenStoreEndsItsCommits(_ kind: Int) throws {
    let place = try Place(kind)
    let path = place.first.path + "/store"
    let other = place.second.path + "/other"
    try FileManager.default.copyItem(atPath: path, toPath: other)
    guard let mount = BindMount(other, at: path) else { return }
    defer { withExtendedLifetime(mount) {} }
    #expect(Self.code { try place.engine.write(.full) { try $0.insert(place.table, ["number": .int(9)]) } } == .replaced)
  }
}
#endif
