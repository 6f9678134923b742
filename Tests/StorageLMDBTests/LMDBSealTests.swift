import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// Values have checksums: what is not what was written is refused, with its place, and everything else is read.
struct LMDBSealTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static let names = (0..<3_000).map { "a name that stands out \($0)" }

  /// A store whose names lie on pages of their own, and what is known of its table.
  private func make(_ path: String) throws -> TableEntry {
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    defer { engine.close() }
    let schema = Schema([ObjectSchema("Pup", .scalar("name", .string), .scalar("age", .int64), .scalar("note", .string))])
    let table = try #require(try engine.adopt(schema)["Pup"])
    try engine.write(.full) { write in
      for (i, name) in LMDBSealTests.names.enumerated() {
        let note = i == 7 ? String(repeating: "long ", count: 900) : ""
        try write.insert(table, ["name": .string(name), "age": .int(Int64(i)), "note": .string(note)])
      }
    }
    return table
  }

  private func change(_ path: String, _ text: String, _ edit: (inout Data, Range<Int>) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let range = try #require(data.range(of: Data(text.utf8)))
    edit(&data, range)
    try data.write(to: URL(fileURLWithPath: path))
  }

  @Test func aFlippedBitOfATextIsRefusedWithItsPlaceAndTheRestIsRead() throws {
    let path = scratch.file("a")
    let table = try make(path)
    try change(path, "stands out 17a") { data, range in data[range.lowerBound] ^= 1 }
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    let refused = #expect(throws: StorageError.self) { try read.value(table.column(named: "name"), ObjectKey(18)) }
    #expect(refused?.code == .corrupt)
    #expect(refused?.message.contains("'Pup.name'") == true && refused?.message.contains("page ") == true, "\(String(describing: refused))")
    #expect(refused?.message.contains(path) == true)
    #expect(try read.value(table.column(named: "age"), ObjectKey(18)) == .int(17))
    #expect(try read.value(table.column(named: "name"), ObjectKey(3_000)) == .string(LMDBSealTests.names[2_999]))
  }

  @Test func aLongValueIsRefusedAsWell() throws {
    let path = scratch.file("a")
    let table = try make(path)
    try change(path, "long long long") { data, range in data[range.lowerBound + 1_000] ^= 0x20 }
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(throws: StorageError.self) { try read.value(table.column(named: "note"), ObjectKey(8)) }
    #expect(try read.value(table.column(named: "note"), ObjectKey(9)) == .string(""))
  }

  private func sideKeys(_ path: String) throws -> [[UInt8]] {
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    var keys: [[UInt8]] = []
    try read.powers.sides?.sides(from: [], below: nil) { key, _ in
      keys.append(Array(key))
      return .proceed
    }
    return keys
  }

  /// Behind the last side entry there is nothing, so a key that is too high is in order. A long value is not read with its page.
  @Test(arguments: [10, 9_000]) func anEntryThatIsAmongOthersByItsKeyIsNotLeftOut(length: Int) throws {
    let path = scratch.file("a")
    _ = try make(path)
    let (first, last) = (Array("the first".utf8), Array("the last".utf8))
    do {
      let engine = try LMDBBackend(path: path).open(OpenOptions())
      defer { engine.close() }
      try engine.write(.full) { write in
        try write.writePowers.sides?.setSide(first, [1])
        try write.writePowers.sides?.setSide(last, [UInt8](repeating: 7, count: length))
      }
    }
    #expect(try sideKeys(path) == [first, last])
    try change(path, "the last") { data, range in data[range.lowerBound - 1] ^= 0x80 }
    let refused = #expect(throws: StorageError.self) { try sideKeys(path) }
    #expect(refused?.code == .corrupt)
  }

  /// Every page of the file, one after the other: a bit of it is read as it was, or refused, or belongs to nothing.
  @Test func aBitOfAnyPageIsFoundOrBelongsToNothing() throws {
    let path = scratch.file("a")
    let table = try make(path)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    var random = SeededGenerator.forTest()
    var refusals = 0
    let damaged = scratch.file("damaged")
    for page in 0..<whole.count / 4_096 {
      var data = whole
      data[page * 4_096 + random.below(4_096)] ^= 1 << UInt8(random.below(8))
      try data.write(to: URL(fileURLWithPath: damaged))
      do {
        let engine = try LMDBBackend(path: damaged).open(OpenOptions())
        defer { engine.close() }
        let read = try engine.beginRead()
        defer { read.end() }
        var names: [String] = []
        try read.scan(table.id, [table.column(named: "name").property], from: ObjectKey(1), hints: []) { batch in
          for row in 0..<batch.count {
            if case .string(let name) = batch.columns[0].value(at: row, as: .string) { names.append(name) }
          }
          return .proceed
        }
        #expect(names == LMDBSealTests.names, "page \(page)")
      } catch {
        #expect(error.code == .corrupt || error.code == .foreignFile || error.code == .unsupportedVersion, "page \(page): \(error)")
        refusals += 1
      }
      for suffix in ["", "-lock", ".coord", ".bell"] { unlink(damaged + suffix) }
    }
    #expect(refusals > 3)
  }

  @Test func aWriteIntoDamagedPagesIsRefusedAndTheStoreGoesOn() throws {
    let path = scratch.file("a")
    let table = try make(path)
    // Each leaf that has the record of the table: its beginning says how many nodes it has.
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    for page in 2..<data.count / 4_096 where data[page * 4_096 + 10] == 2 { data[page * 4_096 + 14] ^= 4 }
    try data.write(to: URL(fileURLWithPath: path))
    let refused = #expect(throws: StorageError.self) {
      let engine = try LMDBBackend(path: path).open(OpenOptions())
      defer { engine.close() }
      try engine.write { try $0.insert(table, ["name": .string("x"), "age": .int(1), "note": .string("")]) }
    }
    #expect(refused?.code == .corrupt)
  }
}
