import CVivariumSystem
import ColumnStore
import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// The map of a file grows with it, whoever reads meanwhile, and many stores fit into one process.
struct LMDBMapTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static let small = 1 << 20

  private static func large(_ count: Int, _ letter: Character) -> [(String, String?)] {
    (0..<count).map { ("k\($0)", String(repeating: letter, count: 10_000)) }
  }

  @Test func aWriteThatOutgrowsTheMapGoesThroughWhileAnOldVersionIsHeld() throws {
    let store = try LMDBStore(path: scratch.file("a"), mapSize: LMDBMapTests.small)
    try store.put([("a", String(repeating: "1", count: 5_000))], 1)
    let held = try store.beginSnapshot()
    let key = Array("a".utf8)
    let lent = try #require(try key.withUnsafeBytes { try held.value(for: $0) })
    var version: UInt64 = 1
    for size in [200, 1_000, 4_000] {
      version += 1
      try store.put(LMDBMapTests.large(size, "x") + [("a", "\(version)")], version, .full)
      #expect(try store.text("k\(size - 1)")?.count == 10_000)
      #expect(try store.text("a") == "\(version)")
      // What was lent lies where it lay.
      #expect(lent.count == 5_000 && lent.allSatisfy { $0 == UInt8(ascii: "1") })
      #expect(try held.text("a")?.count == 5_000 && held.text("k0") == nil)
    }
    let maps = try #require(store.maps)
    #expect(maps.count > 1 && maps.count < 8 && maps.bytes > 40_000_000)
    held.end()
    store.close()
    let again = try LMDBStore(path: scratch.file("a"), mapSize: LMDBMapTests.small)
    #expect(try again.text("k3999")?.count == 10_000)
  }

  @Test func aFileThatAnotherProcessMadeOutgrowTheMapIsReadAndWritten() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path, mapSize: LMDBMapTests.small)
    try store.put([("a", "1")], 1)
    let held = try store.beginSnapshot()
    // So that there is one at rest, of the small map.
    try store.beginSnapshot().end()
    await #expect(processExitsWith: .success) { [path = path as String] in
      try LMDBStore(path: path).put((0..<1_000).map { ("k\($0)", String(repeating: "y", count: 10_000)) }, 2)
    }
    #expect(try store.text("k999")?.count == 10_000)
    #expect(try held.text("a") == "1" && held.text("k0") == nil)
    try store.put([("a", "3")], 3)
    #expect(try store.text("a") == "3" && store.latestVersion() == Version(3))
    held.end()
  }

  @Test func aReaderWithoutTheRightToWriteFollowsAFileThatGrows() async throws {
    let path = scratch.file("a")
    try LMDBStore(path: path).put([("a", "1")], 1)
    let reader = try LMDBStore(path: path, isReadOnly: true, mapSize: LMDBMapTests.small)
    let held = try reader.beginSnapshot()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try LMDBStore(path: path)
      for version in 2...6 {
        try store.put((0..<500).map { ("k\($0)", String(repeating: "\(version)", count: 10_000)) }, UInt64(version))
      }
    }
    #expect(try reader.text("k499") == String(repeating: "6", count: 10_000))
    #expect(try held.text("a") == "1" && held.text("k0") == nil)
  }

  @Test func versionsHeldThroughEveryMapAreKeptFromOtherProcesses() async throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path, mapSize: LMDBMapTests.small)
    var held: [(any KeyValueSnapshot, String)] = []
    for (number, letter) in ["a", "b", "c"].enumerated() {
      try store.put((0..<150 + number * number * 450).map { ("k\($0)", String(repeating: letter, count: 10_000)) }, UInt64(number + 1))
      held.append((try store.beginSnapshot(), letter))
    }
    #expect(try #require(store.maps).count >= 2)
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try LMDBStore(path: path)
      for version in 4...40 {
        try store.put((0..<100).map { ("k\($0)", String(repeating: "z", count: 10_000)) }, UInt64(version))
      }
      _ = try store.reclaimSpace(.never)
    }
    for (snapshot, letter) in held {
      #expect(try snapshot.text("k99") == String(repeating: letter, count: 10_000))
      snapshot.end()
    }
    #expect(try store.text("k99") == String(repeating: "z", count: 10_000))
    store.close()
    // All maps closed: another table of readers may be made now.
    let again = try LMDBStore(path: path)
    LMDBStore.waitForSpace()
    #expect(try again.statistics().pins.isEmpty)
  }

  #if os(Linux)
  @Test func theLockThatProtectsReadersSurvivesALargerMap() throws {
    let path = scratch.file("a")
    let store = try LMDBStore(path: path, mapSize: LMDBMapTests.small)
    let held = try store.beginSnapshot()
    var problem: Int32 = 0
    let probe = cs_open(path + "-lock", true, false, 0, &problem)
    try #require(probe >= 0)
    for size in [200, 1_000] {
      try store.put(LMDBMapTests.large(size, "x"), UInt64(size))
      #expect(cs_locked_at(probe, Int64(getpid()), 1) == Int64(getpid()) && cs_locked_at(probe, 0, 1) == 0)
    }
    held.end()
    store.close()
    close(probe)
  }
  #endif

  @Test func aFullMapCostsTheTransactionAndNothingElse() throws {
    let store = try LMDBStore(path: scratch.file("a"), mapSize: LMDBMapTests.small, mapSizeMax: LMDBMapTests.small)
    try store.put([("a", "1")], 1)
    let error = #expect(throws: StorageError.self) { try store.put(LMDBMapTests.large(200, "x"), 2) }
    #expect(error?.code == .addressSpace)
    #expect(error?.scope == .transaction)
    #expect(try store.beginSnapshot().keys(from: "") == ["a"])
    try store.put([("a", "2")], 2)
    #expect(try store.text("a") == "2")
  }

  @Test func aThousandStoresAreOpenAtOnceReadAndWritten() async throws {
    let path = scratch.path
    await #expect(processExitsWith: .success) { [path = path as String] in
      // A store that writes takes nine descriptors.
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = min(limit.rlim_max, 12_000)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let count = min(1_000, Int(limit.rlim_cur) / 10)
      if count < 1_000 { print("Only \(count) stores: the limit of open files is \(limit.rlim_max).") }
      var stores: [LMDBStore] = []
      for number in 0..<count {
        let store = try LMDBStore(path: path + "/store-\(number)")
        try store.put([("number", "\(number)")], 1)
        stores.append(store)
      }
      for (number, store) in stores.enumerated() { try store.put([("again", "\(number)")], 2, .full) }
      for (number, store) in stores.enumerated() {
        #expect(try store.text("number") == "\(number)" && store.text("again") == "\(number)")
      }
      // And there is address space left for threads.
      let done = Signal()
      onThread { done.fire() }
      #expect(done.wait())
    }
  }
}
