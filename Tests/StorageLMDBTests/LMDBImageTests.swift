import ColumnStore
import Foundation
import StorageConformance
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

private let imageStore = ProcessInfo.processInfo.environment["VIVARIUM_IMAGE_STORE"]

/// What is kept decoded of a file of LMDB's, whose large values are read where they lie.
@Suite struct LMDBImageTests {
  @Test func randomHistoriesShowWhatAnEngineShowsThatKnowsNothing() throws {
    let scratch = try Scratch()
    var run = try DecodingRun(.forTest("histories read by images in a file"), rows: 6_000) {
      try ColumnEngine(LMDBStore(path: scratch.file("store")), OpenOptions())
    }
    try run.play(environmentNumber("VIVARIUM_IMAGE_COMMITS", default: 8))
  }

  /// Two of these at once, on a file that is named to both, are two processes on one store.
  @Test(.enabled(if: imageStore != nil)) func randomHistoriesOfTwoProcesses() throws {
    var run = try DecodingRun(.forTest("histories of two processes, \(ProcessInfo.processInfo.processIdentifier)"), rows: 6_000) {
      try ColumnEngine(LMDBStore(path: imageStore ?? ""), OpenOptions())
    }
    try run.play(environmentNumber("VIVARIUM_IMAGE_COMMITS", default: 8))
  }

  @Test func aFileThatOutgrowsItsMapIsReadInTheNewOne() throws {
    let scratch = try Scratch()
    var run = try DecodingRun(.forTest("images of a growing file"), rows: 6_000) {
      try ColumnEngine(LMDBStore(path: scratch.file("store"), mapSize: 1 << 20), OpenOptions())
    }
    try run.play(environmentNumber("VIVARIUM_IMAGE_COMMITS", default: 5))
  }

  @Test func largeValuesAreReadWhereTheyLieAndStayThereWhileAVersionHasThem() throws {
    let scratch = try Scratch()
    let store = try LMDBStore(path: scratch.file("store"), mapSize: 1 << 20)
    let large = String(repeating: "1", count: 5_000)
    try store.put([("a", large), ("b", "small")], 1)
    func lasting(_ key: String, _ snapshot: any KeyValueSnapshot) throws -> LastingValue {
      try #require(try Array(key.utf8).withUnsafeBytes { try snapshot.lastingValue(for: $0) })
    }
    let first = try store.beginSnapshot()
    let value = try lasting("a", first)
    let small = try lasting("b", first)
    #expect(value.owner == nil && !value.isCopy && small.owner != nil && small.isCopy)
    // Its neighbours move; it does not.
    try store.put((0..<50).map { ("a\($0)", "x") } + [("b", nil)], 2)
    let second = try store.beginSnapshot()
    #expect(try lasting("a", second).bytes.baseAddress == value.bytes.baseAddress)
    #expect(second.memory == first.memory)
    // Written again, with the same bytes, it is another.
    try store.put([("a", large)], 3)
    let third = try store.beginSnapshot()
    #expect(try lasting("a", third).bytes.baseAddress != value.bytes.baseAddress)
    // Beyond the map: in another memory.
    try store.put((0..<1_000).map { ("c\($0)", String(repeating: "y", count: 10_000)) }, 4)
    let fourth = try store.beginSnapshot()
    #expect(fourth.memory != first.memory && third.memory == first.memory)
    #expect(value.bytes.allSatisfy { $0 == UInt8(ascii: "1") } && value.bytes.count == 5_000)
    #expect(small.bytes.elementsEqual("small".utf8))
    for snapshot in [first, second, third, fourth] { snapshot.end() }
  }

  /// Values just below and above the size from which on LMDB gives them pages of their own.
  @Test func aValueIsReadWhereItLiesIfItHasPagesOfItsOwn() throws {
    let scratch = try Scratch()
    let store = try LMDBStore(path: scratch.file("store"))
    for (i, size) in stride(from: 1_990, to: 2_060, by: 3).enumerated() {
      let key = "k\(size)"
      try store.put([(key, String(repeating: "z", count: size))], UInt64(3 * i + 1))
      let before = try store.beginSnapshot()
      let value = try #require(try Array(key.utf8).withUnsafeBytes { try before.lastingValue(for: $0) })
      // The leaf that it may lie on is another one now, twice.
      try store.put([("j", "\(size)")], UInt64(3 * i + 2))
      try store.put([("l", "\(size)")], UInt64(3 * i + 3))
      let after = try store.beginSnapshot()
      let again = try #require(try Array(key.utf8).withUnsafeBytes { try after.lastingValue(for: $0) })
      #expect(value.isCopy == again.isCopy)
      #expect(value.isCopy || value.bytes.baseAddress == again.bytes.baseAddress, "\(size)")
      #expect(value.isCopy == (size < 2_020), "\(size)")
      before.end()
      after.end()
    }
  }

  @Test func aNumberThatIsNotWhatWasWrittenIsRefusedByEveryScan() throws {
    let scratch = try Scratch()
    let path = scratch.file("store")
    var table: TableEntry?
    do {
      let engine = try LMDBBackend(path: path).open(OpenOptions())
      defer { engine.close() }
      table = try engine.adopt(Schema([ObjectSchema("Pup", .scalar("level", .double), .scalar("age", .int64))]))["Pup"]
      try engine.write(.full) { write in
        for i in 0..<3_000 {
          try write.insert(try #require(table), ["level": .double(Double(i) + 0.123_456_7), "age": .int(Int64(i))])
        }
      }
    }
    let entry = try #require(table)
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let place = try #require(withUnsafeBytes(of: 1_234.123_456_7) { data.range(of: Data($0)) })
    data[place.lowerBound] ^= 1
    try data.write(to: URL(fileURLWithPath: path))
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    defer { engine.close() }
    for _ in 0..<2 {
      let read = try engine.beginRead()
      defer { read.end() }
      let refused = #expect(throws: StorageError.self) {
        try read.scan(entry.id, [entry.id("level"), entry.id("age")], from: ObjectKey(1), hints: []) { _ in .proceed }
      }
      #expect(refused?.code == .corrupt && refused?.message.contains("'Pup.level'") == true, "\(String(describing: refused))")
      var count = 0
      try read.scan(entry.id, [entry.id("age")], from: ObjectKey(1), hints: []) { batch in
        count += batch.count
        return .proceed
      }
      #expect(count == 3_000)
    }
  }
}
