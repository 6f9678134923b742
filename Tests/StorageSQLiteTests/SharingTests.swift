import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// What other processes, children of this one and limits of the system do to an open store.
@Suite struct SharingTests {
  private func names(_ place: Place) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: place.directory.url.path).sorted()
  }

  private func count(_ engine: SQLiteEngine) throws -> Int {
    let read = try engine.beginRead()
    defer { read.end() }
    return try read.count(#require(read.catalog["Thing"]).id)
  }

  /// A closed store with that many objects.
  private func fill(_ place: Place, _ count: Int) throws -> TableEntry {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 0..<count { try write.insert(table, ["id": .int(Int64(id)), "name": .string(String(repeating: "n", count: 200))]) }
    }
    engine.close()
    return table
  }

  // MARK: Limits

  @Test func aCommitThatCannotBeMadeDurableForLackOfDescriptorsIsNotVisible() async throws {
    let place = Place()
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let engine = try SQLiteBackend(path: path).open(OpenOptions())
      let table = try #require(try engine.adopt(.everything)["Thing"])
      func begin(_ id: Int64) throws -> any WriteTransaction {
        let write = try engine.beginWrite(.never)
        try write.insert(table, ["id": .int(id)])
        return write
      }
      _ = try begin(1).commit(CommitRecord(), .grouped(within: .seconds(60)))
      let write = try begin(2)
      lowerDescriptorLimit(to: 200)
      var files: [Int32] = []
      while case let file = open("/dev/null", O_RDONLY), file >= 0 { files.append(file) }
      var failure: StorageError?
      do throws(StorageError) { _ = try write.commit(CommitRecord(), .full) } catch { failure = error }
      for file in files { close(file) }
      let read = try engine.beginRead()
      #expect(try read.count(table.id) == (failure == nil ? 2 : 1))
      #expect(failure?.scope == .transaction)
      // Once the log is open nothing is missing any more.
      _ = try begin(3).commit(CommitRecord(), .full)
      _ = try begin(4).commit(CommitRecord(), .relaxed)
      let last = try begin(5)
      files = []
      while case let file = open("/dev/null", O_RDONLY), file >= 0 { files.append(file) }
      _ = try last.commit(CommitRecord(), .full)
      for file in files { close(file) }
    }
  }

  // MARK: Children

  @Test func aForkedChildOpensOnlyWhatWasNotOpen() async throws {
    let place = Place()
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let engine = try SQLiteBackend(path: path).open(OpenOptions())
      _ = try engine.adopt(.everything)
      #expect(try inChild { openCode(path) == .forked })
      let read = try engine.beginRead()
      engine.close()
      // Closed, but not let go of yet.
      #expect(try inChild { openCode(path) == .forked })
      read.end()
      #expect(try inChild { openCode(path) == nil })
    }
  }

  // MARK: Letting go

  @Test func aClosedEngineHasNothingOpenWhoeverRefersToItsTransactions() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let read = try engine.beginRead()
    _ = try read.count(table.id)
    let write = try engine.beginWrite(.never)
    try write.insert(table, ["id": .int(1)])
    _ = try write.commit(CommitRecord(), .relaxed)
    engine.close()
    #expect(try names(place).contains("store.sqlite-wal"))
    read.end()
    #expect(try names(place) == ["store.sqlite", "store.sqlite.bell", "store.sqlite.coord"])
    withExtendedLifetime((read, write, engine)) {}
  }

  // MARK: Reading alone

  @Test func aReaderKeepsNoWriterOutAndLeavesNothing() async throws {
    let place = Place()
    _ = try fill(place, 3)
    let before = try names(place)
    let reader = try place.open(OpenOptions(isReadOnly: true))
    let old = try reader.beginRead()
    let table = try #require(old.catalog["Thing"])
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let engine = try SQLiteBackend(path: path).open(OpenOptions())
      let table = try #require(try engine.beginRead().catalog["Thing"])
      try engine.write { try $0.insert(table, ["id": .int(100)]) }
      engine.close()
    }
    #expect(try old.count(table.id) == 3)
    #expect(try count(reader) == 4)
    #expect(try reader.latestVersion() == Version(3))
    old.end()
    reader.close()
    #expect(try names(place) == before)
  }

  @Test func aSnapshotOfAFileThatIsWrittenAfterAllExpires() throws {
    let place = Place()
    let table = try fill(place, 3000)
    for name in [".coord", ".bell"] { try FileManager.default.removeItem(atPath: place.path + name) }
    let reader = try place.open(OpenOptions(isReadOnly: true))
    let old = try reader.beginRead()
    #expect(try old.count(table.id) == 3000)
    try old.scan(table.id, [table.id("name")], from: ObjectKey(0), hints: []) { _ in .stop }
    do {
      try Raw(place.path).execute("UPDATE Thing SET name = 'other' WHERE _key > 100; DELETE FROM Thing WHERE _key % 2 = 0")
    }
    let expired = #expect(throws: StorageError.self) { try old.count(table.id) }
    #expect(expired?.code == .snapshotExpired)
    old.end()
    let new = try reader.beginRead()
    var rows = 0
    try new.scan(table.id, [table.id("name")], from: ObjectKey(0), hints: []) { batch in
      rows += batch.count
      return .proceed
    }
    #expect(rows == 1500)
    #expect(try new.count(table.id) == 1500)
  }
}

/// Runs `body` in a forked child; what it returned.
private func inChild(_ body: () -> Bool) throws -> Bool {
  let child = forkedProcess()
  if child == 0 { _exit(body() ? 0 : 1) }
  try #require(child > 0)
  var status: Int32 = -1
  waitpid(child, &status, 0)
  return status == 0
}

private func openCode(_ path: String) -> StorageError.Code? {
  do throws(StorageError) {
    // Never closed: it is for a child, which ends at once.
    _ = Unmanaged.passRetained(try SQLiteBackend(path: path).open(OpenOptions()) as AnyObject)
    return nil
  } catch { return error.code }
}

private func lowerDescriptorLimit(to count: rlim_t) {
  var limit = rlimit(rlim_cur: count, rlim_max: count)
  #if canImport(Glibc)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  #else
  setrlimit(RLIMIT_NOFILE, &limit)
  #endif
}
