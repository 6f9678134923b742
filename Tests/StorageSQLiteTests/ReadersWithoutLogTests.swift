import Foundation
import StorageCoordination
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A reader that may make no files, and a writer: whoever came first, both go on. The children give up what rights the test was
/// started with.
@Suite struct ReadersWithoutLogTests {
  private static let sides = [".coord", ".bell"]

  /// A closed store with 200 objects and no log.
  private func fill(_ place: Place) throws -> TableEntry {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<200 { try write.insert(table, ["id": .int(Int64(id)), "name": .string("old")]) } }
    engine.close()
    return table
  }

  private func names(_ place: Place) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.directory.url.path).sorted()
  }

  /// Commits so much that its pages are worth moving into the data file.
  private static func writeMuch(_ engine: SQLiteEngine, _ table: TableEntry) throws {
    for number in 0..<40 {
      try engine.write { write in
        try write.set(table.column(named: "blob"), ObjectKey(1), .data(Data(repeating: UInt8(number), count: 200_000)))
        try write.set(table.column(named: "name"), ObjectKey(7), .string("new \(number)"))
      }
    }
  }

  @Test func nothingIsMovedIntoADataFileThatSomebodyReadsAlone() throws {
    let place = Place()
    let table = try fill(place)
    let reader = try StorePresence(path: place.path + ".coord", as: .dataFileReader)
    let before = try Data(contentsOf: URL(fileURLWithPath: place.path))
    let writer = try place.open()
    try ReadersWithoutLogTests.writeMuch(writer, table)
    writer.requestCheckpoint()
    writer.waitForCheckpoints()
    _ = try writer.reclaimSpace(.never)
    #expect(writer.checkpointAttempts > 0)
    #expect(writer.logFrames.logged > 1_000 && writer.logFrames.moved == 0)
    // What keeps the log is said as for any reader.
    #expect(try writer.statistics().heldBytes > 0)
    writer.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
    #expect(try names(place).contains("store.sqlite-wal"))
    // Whoever opens it meanwhile finds everything.
    let second = try place.open()
    let read = try second.beginRead()
    #expect(try read.value(table.column(named: "name"), ObjectKey(7)) == .string("new 39"))
    read.end()
    second.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)) == before)
    reader.leaveDataFile()
    try place.open().close()
    #expect(try names(place) == ["store.sqlite", "store.sqlite.bell", "store.sqlite.coord"])
  }

  // Only root can be two users; and who may write the file and gives itself the right to changes one of the file's times.
  @Test(.enabled(if: getuid() == 0, "needs root")) func whoMayNotWriteKeepsItsVersionWhileAnotherUserWritesAndClosesAndHearsOfIt()
    async throws
  {
    let place = Place()
    let table = try fill(place)
    let talk = TemporaryDirectory("talk")
    try setMode(0o777, talk.url.path)
    for side in [""] + ReadersWithoutLogTests.sides { try setMode(0o444, place.path + side) }
    try setMode(0o555, place.directory.url.path)
    let child = ExitingChild(output: talk.file("output").path)
    let moved = child.whenMade(talk.file("reads").path) {
      defer { _ = FileManager.default.createFile(atPath: talk.file("closed").path, contents: nil) }
      let engine = try place.open()
      try ReadersWithoutLogTests.writeMuch(engine, table)
      engine.waitForCheckpoints()
      defer { engine.close() }
      return engine.logFrames.moved
    }
    await #expect(processExitsWith: .success) { [path = place.path as String, talk = talk.url.path as String] in
      ExitingChild.redirectOutput(to: talk + "/output")
      #expect(dropRights())
      let reader = try #require(try SQLiteBackend(path: path).open(OpenOptions(isReadOnly: true)) as? SQLiteEngine)
      let old = try reader.beginRead()
      let table = try #require(old.catalog["Thing"])
      let told = Signal()
      let listener = try reader.addCommitListener { told.fire() }
      _ = FileManager.default.createFile(atPath: talk + "/reads", contents: nil)
      #expect(told.wait { ((try? reader.latestVersion()) ?? old.version) > old.version })
      wait(forFile: talk + "/closed")
      var names: Set<Value> = []
      for key in 1...200 { names.insert(try old.value(table.column(named: "name"), ObjectKey(Int64(key)))) }
      #expect(names == [.string("old")])
      old.end()
      let new = try reader.beginRead()
      #expect(try new.value(table.column(named: "name"), ObjectKey(7)) == .string("new 39"))
      new.end()
      #expect(!StorePresence.isDataFileRead(path: path + ".coord"))
      listener.stop()
      reader.close()
    }
    child.end()
    #expect(try await moved.value == 0)
    try unlock(place)
    try place.open().close()
    #expect(try names(place) == ["store.sqlite", "store.sqlite.bell", "store.sqlite.coord"])
  }

  @Test func whoMayNotWriteReadsBesideAWriterThatWasThereBefore() async throws {
    let place = Place()
    let table = try fill(place)
    let talk = TemporaryDirectory("talk")
    try setMode(0o777, talk.url.path)
    try unlock(place)
    let engine = try place.open()
    // The first commit in this log, which nobody has read yet.
    try engine.write { try $0.insert(table, ["id": .int(1_000)]) }
    let child = ExitingChild(output: talk.file("output").path)
    let written = child.whenMade(talk.file("reads").path) { try engine.write { try $0.insert(table, ["id": .int(1_001)]) } }
    await #expect(processExitsWith: .success) { [path = place.path as String, talk = talk.url.path as String] in
      ExitingChild.redirectOutput(to: talk + "/output")
      #expect(dropRights())
      let reader = try #require(try SQLiteBackend(path: path).open(OpenOptions(isReadOnly: true)) as? SQLiteEngine)
      let old = try reader.beginRead()
      let table = try #require(old.catalog["Thing"])
      #expect(try old.count(table.id) == 201)
      let told = Signal()
      let listener = try reader.addCommitListener { told.fire() }
      _ = FileManager.default.createFile(atPath: talk + "/reads", contents: nil)
      #expect(told.wait { ((try? reader.latestVersion()) ?? old.version) > old.version })
      let new = try reader.beginRead()
      #expect(try new.count(table.id) == 202)
      #expect(try old.count(table.id) == 201)
      for read in [old, new] { read.end() }
      listener.stop()
      reader.close()
    }
    child.end()
    _ = try await written.value
    engine.close()
  }
}

private func setMode(_ mode: Int, _ path: String) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

/// Lets the files' owner, and nobody else, write the store.
private func unlock(_ place: Place) throws {
  try setMode(0o755, place.directory.url.path)
  for side in ["", ".coord", ".bell"] { try setMode(0o644, place.path + side) }
}

/// Becomes nobody, if the process is root's.
private func dropRights() -> Bool { getuid() != 0 || setuid(65534) == 0 }

/// Waits for a file that another process makes.
private func wait(forFile path: String) { while !FileManager.default.fileExists(atPath: path) { sched_yield() } }
