import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Files whose content is not what SQLite or we put there: right data or a typed error, and never a signal.
@Suite struct HostileFileTests {
  private static func fill(_ place: Place, _ count: Int) throws {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in
      for id in 0..<count {
        let key = try write.insert(
          table, ["id": .int(Int64(id)), "name": .string("name \(id)" + String(repeating: "n", count: 40)), "ratio": .double(Double(id))])
        if id % 5 == 0 {
          try write.edit(table.column(named: "scores"), key, .insert(at: 0, [.double(1), .double(2), .null]))
          try write.edit(table.column(named: "friends"), key, .insert(at: 0, [.link(ObjectKey(1))]))
        }
      }
    }
    for id in 0..<min(30, count) {
      try engine.write { try $0.set(table.column(named: "name"), ObjectKey(Int64(id + 1)), .string("again \(id)")) }
    }
    engine.close()
  }

  @Test func aFileWithoutItsHistoryIsReadAndNotWritten() throws {
    let place = Place()
    try HostileFileTests.fill(place, 10)
    try Raw(place.path).execute("DELETE FROM _vivarium_history")
    let error = #expect(throws: StorageError.self) { try place.open().close() }
    #expect(error?.code == .corrupt)
    let engine = try SQLiteBackend(path: place.path).open(OpenOptions(isReadOnly: true))
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.catalog["Thing"].map { try read.count($0.id) } == 10)
  }

  /// Reads all there is in every way; every failure is a typed one, and one way's failure keeps none of the others back.
  static func readAll(_ path: String, writing: Bool) {
    func trying(_ body: () throws -> Void) {
      do { try body() } catch {
        guard let error = error as? StorageError else { preconditionFailure("\(error)") }
        precondition(error.code != .corrupt || error.message.contains(path), "the file is not named: \(error)")
      }
    }
    trying {
      let engine = try SQLiteBackend(path: path).open(OpenOptions())
      defer { engine.close() }
      let read = try engine.beginRead()
      guard let table = read.catalog["Thing"] else { return }
      let scalars = table.columns.filter { $0.schema.isScalar }
      var keys: [Int64] = []
      trying { keys.reserveCapacity(try read.count(table.id)) }
      trying { try read.scan(table.id, scalars.map(\.id), from: ObjectKey(0), hints: []) { _ in .proceed } }
      trying { try read.scan(table.id, [], from: ObjectKey(0), hints: []) { _ in .proceed } }
      for index in table.indexes {
        trying {
          try read.keys(in: index.id, .all, descending: false) { found in
            keys += found
            return .proceed
          }
        }
        trying { _ = try read.count(in: index.id, .all) }
      }
      let asked = keys.prefix(400) + (0..<700).map { Int64($0) }
      for column in scalars.map({ table.column($0.id) }) {
        for key in asked {
          trying {
            if let window = try read.powers.windows?.window(column, containing: ObjectKey(key)) { _ = window.firstKey }
          }
        }
      }
      for column in ["id", "ratio", "flag"].map({ table.column(named: $0) }) {
        trying { _ = try read.powers.aggregates?.total(of: column, .sum) }
        trying { _ = try read.powers.aggregates?.total(of: column, .least) }
        var (words, nulls) = ([Int64](repeating: 0, count: 64), [Bool](repeating: false, count: 64))
        trying {
          let some = Array(asked.suffix(64))
          try some.withUnsafeBufferPointer { keys throws in
            try words.withUnsafeMutableBufferPointer { words throws in
              try nulls.withUnsafeMutableBufferPointer { nulls throws in
                guard let words = words.baseAddress, let nulls = nulls.baseAddress else { return }
                try read.powers.gathering?.words(column, of: keys, into: words, nulls: nulls)
              }
            }
          }
        }
      }
      for list in ["scores", "friends", "words"].map({ table.column(named: $0) }) {
        for key in stride(from: Int64(1), to: 120, by: 5) {
          trying { _ = try read.elementCount(list, ObjectKey(key)) }
          trying { try read.elements(list, ObjectKey(key), 1..<3) { _ in .proceed } }
        }
      }
      trying { try read.sources(of: ObjectKey(1), through: table.column(named: "friends")) { _ in .proceed } }
      trying { try read.history(after: Version(0)) { _ in .proceed } }
      trying { _ = try engine.statistics() }
      trying { try (engine as? SQLiteEngine)?.verifyStructure(read) { _ in } }
      read.end()
      if writing { trying { try write(table, engine) } }
    }
  }

  private static func write(_ table: TableEntry, _ engine: any StorageEngine) throws {
    try engine.write { write in
      let key = try write.insert(table, ["id": .int(1_000_000), "name": .string("new")])
      try write.edit(table.column(named: "scores"), key, .insert(at: 0, [.double(1)]))
      for key in stride(from: Int64(1), to: 60, by: 5) {
        try write.edit(table.column(named: "scores"), ObjectKey(key), .insert(at: 1, [.double(5)]))
        try write.edit(table.column(named: "scores"), ObjectKey(key), .remove(0..<1))
      }
      _ = try write.delete(table.id, all: Array(20..<40))
      try write.delete(table.id, ObjectKey(50))
    }
  }

  private static func swapPages(_ bytes: inout Data, _ first: Int, _ second: Int, size: Int) {
    let (a, b) = (first * size..<(first + 1) * size, second * size..<(second + 1) * size)
    let kept = Data(bytes[a])
    bytes.replaceSubrange(a, with: Data(bytes[b]))
    bytes.replaceSubrange(b, with: kept)
  }

  @Test func swappedZeroedAndFlippedPagesAreReadWithoutASignal() async throws {
    let place = Place()
    try HostileFileTests.fill(place, 600)
    let random = SeededGenerator.forTest()
    let rounds = environmentNumber("VIVARIUM_ROUNDS", default: 30)
    await #expect(processExitsWith: .success) { [path = place.path as String, seed = random.seed as UInt64, rounds = rounds as Int] in
      var random = SeededGenerator(seed: seed)
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let size = Int(whole[16]) << 8 | Int(whole[17])
      let pages = whole.count / size
      for round in 0..<rounds {
        var bytes = whole
        for _ in 0...random.below(2) {
          let page = 1 + random.below(pages - 1)
          switch random.below(5) {
          case 0, 1: HostileFileTests.swapPages(&bytes, page, 1 + random.below(pages - 1), size: size)
          case 2: bytes.replaceSubrange(page * size..<(page + 1) * size, with: Data(count: size))
          case 3:
            // Cells: their pointers, and what they say of their lengths.
            for _ in 0..<4 { bytes[page * size + random.below(40)] = UInt8(random.below(256)) }
          default: for _ in 0..<16 { bytes[page * size + random.below(size)] ^= UInt8(1 << random.below(8)) }
          }
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        HostileFileTests.readAll(path, writing: round % 2 == 1)
      }
    }
  }

  @Test func everyPairOfSwappedPagesIsReadWithoutASignal() async throws {
    let place = Place()
    try HostileFileTests.fill(place, 300)
    let isLong = environmentNumber("VIVARIUM_ROUNDS", default: 0) > 0
    await #expect(processExitsWith: .success) { [path = place.path as String, isLong = isLong as Bool] in
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let size = Int(whole[16]) << 8 | Int(whole[17])
      // Leaves of the objects' own table lie near each other.
      for first in 1..<whole.count / size {
        for second in first + 1..<min(first + (isLong ? 4 : 2), whole.count / size) {
          var bytes = whole
          HostileFileTests.swapPages(&bytes, first, second, size: size)
          try bytes.write(to: URL(fileURLWithPath: path))
          for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
          HostileFileTests.readAll(path, writing: false)
        }
      }
    }
  }

  @Test(arguments: [
    "UPDATE _vivarium_types SET objects = 9223372036854775807", "UPDATE _vivarium_types SET objects = -9223372036854775808",
    "UPDATE _vivarium_types SET objects = 'many'", "UPDATE _vivarium_types SET last_key = 9223372036854775807",
    "UPDATE _vivarium_types SET last_key = -9223372036854775808",
    "UPDATE _vivarium_history SET record = zeroblob(100000)", "UPDATE _vivarium_history SET record = randomblob(64)",
    "UPDATE _vivarium_history SET record = x'ffffffffffffffffff7fffffffffffffffffff7f'",
    "INSERT INTO _vivarium_history VALUES (9223372036854775806, x'00')", "INSERT INTO _vivarium_history VALUES (-5, x'00')",
    "UPDATE _vivarium_catalog SET version = 9223372036854775807", "UPDATE _vivarium_catalog SET catalog = '{}'",
    "INSERT INTO _vivarium_foreign VALUES (9223372036854775807, 1, -9223372036854775808, 'deleted', 70000)",
    "INSERT INTO _vivarium_foreign VALUES (1, 1, 9223372036854775807, 'inserted', -1), (2, 1, 9223372036854775806, 'replaced', 3)",
    "INSERT INTO Thing (_key, id) VALUES (-9223372036854775808, 7000), (9223372036854775807, 7001)",
    "UPDATE \"Thing.scores\" SET position = 9223372036854775807 - position / 1000",
    "UPDATE \"Thing.scores\" SET position = -9223372036854775807 + position / 1000",
    "UPDATE \"Thing.scores\" SET owner = -1 WHERE owner = 1", "UPDATE \"Thing.friends\" SET value = -9223372036854775808",
    "UPDATE Thing SET flag = 9223372036854775807, small = -9223372036854775808", "UPDATE Thing SET uuid = x'00', blob = 'text'",
  ])
  func numbersThatNoFileOfOursHasAreReadWithoutASignal(_ text: String) async throws {
    let place = Place()
    try HostileFileTests.fill(place, 300)
    do {
      let other = try Raw(place.path)
      try other.execute("PRAGMA ignore_check_constraints = ON")
      try other.execute(text)
    }
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      HostileFileTests.readAll(path, writing: false)
      HostileFileTests.readAll(path, writing: true)
    }
  }

  @Test func windowsOverSwappedLeavesSayThatRowsAreOutOfOrder() async throws {
    let place = Place()
    try HostileFileTests.fill(place, 900)
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let size = Int(whole[16]) << 8 | Int(whole[17])
      // Leaves of tables, with our objects' names in them.
      let leaves = (1..<whole.count / size).filter { page in
        let bytes = whole[page * size..<(page + 1) * size]
        return bytes[bytes.startIndex] == 13 && bytes.range(of: Data("nnnnnnnn".utf8)) != nil
      }
      try #require(leaves.count > 8)
      var refused = 0
      for (first, second) in zip(leaves.dropFirst(3), leaves.dropFirst(5)) {
        var bytes = whole
        HostileFileTests.swapPages(&bytes, first, second, size: size)
        try bytes.write(to: URL(fileURLWithPath: path))
        let engine = try SQLiteBackend(path: path).open(OpenOptions())
        let read = try engine.beginRead()
        let column = try #require(read.catalog["Thing"]).column(named: "id")
        // In their order, so that windows grow over the ends of leaves.
        for key in Int64(1)...900 {
          do throws(StorageError) {
            guard let window = try read.powers.windows?.window(column, containing: ObjectKey(key)) else { continue }
            #expect(key >= window.firstKey && key - window.firstKey < Int64(window.vector.count))
            #expect(try read.word(column, ObjectKey(key)) == key - 1)
          } catch {
            #expect(error.code == .corrupt || error.code == .objectDeleted)
            if error.message.contains("out of their order") { refused += 1 }
          }
        }
        read.end()
        engine.close()
      }
      #expect(refused > 0)
    }
  }

  @Test func aCountThatTheFileCannotHoldIsDamage() throws {
    let place = Place()
    try HostileFileTests.fill(place, 10)
    do { try Raw(place.path).execute("UPDATE _vivarium_types SET objects = 9000000000000000000") }
    let engine = try place.open()
    let read = try engine.beginRead()
    let table = try #require(read.catalog["Thing"])
    let error = #expect(throws: StorageError.self) { try read.count(table.id) }
    #expect(error?.code == .corrupt && error?.message.contains("Thing") == true && error?.message.contains(place.path) == true)
    read.end()
    engine.close()
  }
}
