import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// SQLite takes a damaged frame for the end of its log, and says nothing. A store does, where commits are missing that were durable.
@Suite struct DamagedLogTests {
  private static let suffixes = ["", "-wal", ".coord", ".bell"]
  private static let rounds = environmentNumber("VIVARIUM_ROUNDS", default: 60)

  /// The files of a store as its process leaves them when it is killed.
  private struct Left {
    let place = Place()
    private var files: [String: Data] = [:]
    /// How much of the log the last commits need.
    var log: Data { files["-wal"] ?? Data() }

    init(_ durabilities: [Durability]) throws {
      let engine = try place.open()
      let table = try #require(try engine.adopt(.everything)["Thing"])
      for (number, durability) in durabilities.enumerated() {
        try engine.write(durability) { try $0.insert(table, ["id": .int(Int64(number)), "name": .string("thing \(number)")]) }
      }
      for suffix in suffixes { files[suffix] = try Data(contentsOf: URL(fileURLWithPath: place.path + suffix)) }
      engine.close()
    }

    /// Puts them back into the files that there are, with another log.
    func putBack(log: Data? = nil) throws {
      unlink(place.path + "-shm")
      for (suffix, bytes) in files {
        try (suffix == "-wal" ? log ?? bytes : bytes).write(to: URL(fileURLWithPath: place.path + suffix))
      }
    }

    /// The number of objects in the store; nil if it is refused as damaged.
    func count() throws -> Int? {
      do {
        let engine = try place.open()
        defer { engine.close() }
        let read = try engine.beginRead()
        defer { read.end() }
        // Nothing is left of a file without its log.
        return try read.catalog["Thing"].map { try read.count($0.id) } ?? 0
      } catch let error as StorageError where error.code == .corrupt {
        return nil
      }
    }
  }

  @Test("A log that an older store left is not the new one's", arguments: [false, true])
  func aLogWithoutItsFileIsNotPlayedBack(isEmptied: Bool) throws {
    let left = try Left(Array(repeating: .full, count: 10))
    try left.putBack()
    // Somebody removes the main file alone, or empties it.
    if isEmptied { try Data().write(to: URL(fileURLWithPath: left.place.path)) } else { unlink(left.place.path) }
    #expect(try left.count() == 0)
    let engine = try left.place.open()
    defer { engine.close() }
    #expect(try engine.latestVersion() == Version(0))
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write(.full) { _ = try $0.insert(table, ["id": .int(77)]) }
    #expect(try left.count() == 1)
  }

  @Test func noDurableCommitIsMissingWithoutAWord() throws {
    var random = SeededGenerator.forTest("noDurableCommitIsMissingWithoutAWord")
    let left = try Left(Array(repeating: .full, count: 40))
    try left.putBack()
    #expect(try left.count() == 40)
    var refused = 0
    for round in 0..<DamagedLogTests.rounds {
      var log = left.log
      // The first bytes tell logs apart, and are damaged as often.
      let place = round % 3 == 0 ? random.below(32) : random.below(log.count)
      if round % 5 == 4 { log = log.prefix(max(1, place)) } else { log[place] ^= UInt8(1 << random.below(8)) }
      try left.putBack(log: log)
      switch try left.count() {
      case nil: refused += 1
      case let count?: #expect(count == 40, "round \(round), byte \(place)")
      }
    }
    #expect(refused > 0)
  }

  @Test func whatIsLeftOfADamagedLogStaysThere() throws {
    let left = try Left(Array(repeating: .full, count: 10))
    let log = left.log.prefix(left.log.count - 100)
    try left.putBack(log: log)
    for _ in 0..<2 {
      do {
        _ = try left.place.open()
        Issue.record("opened")
      } catch let error as StorageError {
        #expect(error.code == .corrupt)
        #expect(error.message.contains("-wal' is damaged"), "\(error)")
      }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: left.place.path + "-wal")) == log)
    // As the error says.
    unlink(left.place.path + ".coord")
    #expect(try left.count() == 9)
    #expect(try left.count() == 9)
  }

  @Test func aLogThatIsNoLongerKnownAsOneStaysThere() throws {
    let left = try Left(Array(repeating: .full, count: 10))
    var log = left.log
    log[0] ^= 1
    try left.putBack(log: log)
    #expect(try left.count() == nil)
    // Without the note nobody can tell it from a stranger's file.
    unlink(left.place.path + ".coord")
    let error = #expect(throws: StorageError.self) { try left.place.open().close() }
    #expect(error?.code == .foreignFile)
    #expect(try Data(contentsOf: URL(fileURLWithPath: left.place.path + "-wal")) == log)
    // As the error says.
    unlink(left.place.path + "-wal")
    #expect(try left.count() == 0)
  }

  /// A power cut takes what was not durable, wherever it stops.
  @Test func aLogThatEndsBehindTheLastDurableCommitIsWhole() throws {
    var random = SeededGenerator.forTest("aLogThatEndsBehindTheLastDurableCommitIsWhole")
    let durable = try Left(Array(repeating: .full, count: 10)).log.count
    let left = try Left(Array(repeating: .full, count: 10) + Array(repeating: .relaxed, count: 20))
    for round in 0..<20 {
      try left.putBack(log: left.log.prefix(durable + random.below(left.log.count - durable)))
      #expect(try left.count() ?? 0 >= 10, "round \(round)")
    }
  }

  /// Who puts an older file in the place of a newer one means it; so does who copies a store while it is written.
  @Test func olderFilesThatWerePutThereAreOpened() throws {
    let left = try Left(Array(repeating: .full, count: 10))
    try left.putBack()
    let older = try Data(contentsOf: URL(fileURLWithPath: left.place.path))
    #expect(try left.count() == 10)
    try older.write(to: URL(fileURLWithPath: left.place.path))
    #expect(try left.count() == 0)

    try left.putBack(log: left.log.prefix(left.log.count - 100))
    let copy = Place()
    for suffix in DamagedLogTests.suffixes {
      try FileManager.default.copyItem(atPath: left.place.path + suffix, toPath: copy.path + suffix)
    }
    let engine = try copy.open()
    defer { engine.close() }
    #expect(try engine.latestVersion() < Version(11))
  }
}
