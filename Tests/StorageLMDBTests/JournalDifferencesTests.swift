import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// What a record says of a value and what is made of it.
@Suite struct JournalDifferencesTests {
  private static let key = [UInt8]("key".utf8)

  /// The value that the record of a change makes.
  private func made(_ old: [UInt8]?, _ new: [UInt8]) throws -> (value: [UInt8], size: Int) {
    var differences = JournalDifferences()
    JournalDifferencesTests.key.withUnsafeBytes { key in
      new.withUnsafeBytes { new in
        if let old { old.withUnsafeBytes { differences.put(key, new, over: $0) } } else { differences.put(key, new, over: nil) }
      }
    }
    let bytes = differences.bytes
    let value = try bytes.withUnsafeBytes { bytes -> [UInt8] in
      var reader = JournalReader(bytes)
      let (key, change) = try #require(try reader.next())
      #expect(Array(key) == JournalDifferencesTests.key)
      let isEnd = try reader.next() == nil
      #expect(isEnd)
      switch change {
      case .removal: return []
      case .value(let value): return Array(value)
      case .patch(let patch): return try (old ?? []).withUnsafeBytes { try patch.applied(to: $0, key: key) }
      }
    }
    return (value, bytes.count)
  }

  @Test func anyValueComesOutOfAnyOther() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_DIFFERENCES", default: 3_000) {
      let old = (0..<[0, 5, 127, 128, 129, 1_000, 8_000][random.below(7)]).map { _ in UInt8(random.below(256)) }
      var new = old
      if random.oneIn(3) { new = Array(new.prefix(random.below(old.count + 1))) }
      if random.oneIn(3) { new += (0..<random.below(400)).map { _ in UInt8(random.below(256)) } }
      if !new.isEmpty { for _ in 0..<random.below(12) { new[random.below(new.count)] = UInt8(random.below(256)) } }
      #expect(try made(old, new).value == new)
      #expect(try made(nil, new).value == new)
    }
  }

  @Test func oneChangedNumberTakesAFewBytes() throws {
    let old = [UInt8](repeating: 7, count: 8_000)
    var new = old
    new.replaceSubrange(4_000..<4_008, with: [1, 2, 3, 4, 5, 6, 8, 9])
    #expect(try made(old, new).size < 64)
    // Nothing changed, and it is written all the same.
    #expect(try made(old, old).value == old)
  }

  /// A patch of another value is refused, and no bytes end the process.
  @Test func whatIsNoRecordIsRefused() throws {
    var random = SeededGenerator.forTest()
    let old = (0..<600).map { _ in UInt8(random.below(256)) }
    var new = old
    new[100] ^= 1
    new[500] ^= 1
    var differences = JournalDifferences()
    JournalDifferencesTests.key.withUnsafeBytes { key in
      old.withUnsafeBytes { old in new.withUnsafeBytes { new in differences.put(key, new, over: old) } }
      differences.remove(key)
    }
    let bytes = differences.bytes
    for _ in 0..<environmentNumber("VIVARIUM_DAMAGE_ROUNDS", default: 3_000) {
      var damaged = bytes
      for _ in 0...random.below(3) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
      if random.oneIn(4) { damaged = Array(damaged.prefix(random.below(damaged.count))) }
      damaged.withUnsafeBytes { bytes in
        var reader = JournalReader(bytes)
        while let (key, change) = try? reader.next() {
          guard case .patch(let patch) = change else { continue }
          let value = old.withUnsafeBytes { try? patch.applied(to: $0, key: key) }
          if Array(key) == JournalDifferencesTests.key, let value { #expect(value == new) }
        }
      }
    }
  }
}
