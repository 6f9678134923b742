#if Encryption
import ColumnStore
import Foundation
import StorageEncryption
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

/// A sealed key-value store shows what a plain one does, and below it lies nothing that can be read or changed.
@Suite struct SealedEntriesTests {
  private let cipher: EntryCipher

  init() throws { cipher = EntryCipher(try EncryptionKey.generate().cipher(salt: Array(repeating: 3, count: 16))) }

  private func commit(_ entries: [([UInt8], [UInt8]?)], _ version: UInt64, to store: any KeyValueStore) throws {
    var batch = KeyValueBatch(version: Version(version))
    for (key, value) in entries { key.withUnsafeBytes { batch.append(key: $0, value: value.map { ValueBuffer($0) }) } }
    batch.sort()
    let writer = try store.acquireWriter(.never)
    defer { writer.end() }
    try writer.apply(batch, .full)
  }

  /// A key of one of the spaces of a column store.
  private func key(_ random: inout SeededGenerator) -> [UInt8] {
    let space = [UInt8(1), 2, 3, 6, 9, 10, 10, 10, 11, 12, 13, 14, 14, 14, 14][random.below(15)]
    let rest = (0..<random.below(4)).map { _ in UInt8(random.below(3)) }
    switch space {
    case 1, 2: return [space]
    case 10: return [space, 0, UInt8(random.below(3))] + rest
    case 12: return [space, 0, UInt8(random.below(2)), 0, 1] + rest
    case 14: return [space, UInt8(random.below(200))] + rest + Array(repeating: 7, count: random.below(60))
    default: return [space, 0, UInt8(random.below(5))] + rest
    }
  }

  @Test func aSealedStoreShowsWhatAPlainOneDoes() throws {
    var random = SeededGenerator.forTest("aSealedStoreShowsWhatAPlainOneDoes")
    let (plain, below) = (MemoryStore(pageSize: 4_096), MemoryStore(pageSize: 4_096))
    // As two processes have it open, each with what it knows of the versions that it has seen.
    var stores = [SealedStore(below, cipher), SealedStore(below, cipher)]
    var known: Set<[UInt8]> = []
    for version in UInt64(1)...120 {
      var entries: [[UInt8]: [UInt8]?] = [:]
      // More at first, and more deletions later.
      for _ in 0..<random.below(version < 60 ? 120 : 10) {
        let key = key(&random)
        let value: [UInt8]? = random.oneIn(5) ? nil : (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
        entries.updateValue(value, forKey: key)
        known.insert(key)
      }
      if version > 60 {
        for key in known.sorted(by: { $0.lexicographicallyPrecedes($1) }) where random.oneIn(20) { entries.updateValue(nil, forKey: key) }
      }
      let list: [([UInt8], [UInt8]?)] = entries.map { ($0.key, $0.value) }
      try commit(list, version, to: plain)
      try commit(list, version, to: stores[random.below(2)])
      // One that knows nothing yet.
      if random.oneIn(10) { stores[random.below(2)] = SealedStore(below, cipher) }
      try compare(plain, stores[random.below(2)], &random)
    }
    let snapshot = try #require(try stores[0].beginSnapshot() as? SealedSnapshot)
    var faults: [StoreFault] = []
    try snapshot.verify { faults.append($0) }
    #expect(faults.isEmpty, "\(faults)")
  }

  private func compare(_ plain: any KeyValueStore, _ sealed: any KeyValueStore, _ random: inout SeededGenerator) throws {
    let (a, b) = (try plain.beginSnapshot(), try sealed.beginSnapshot())
    defer {
      a.end()
      b.end()
    }
    for _ in 0..<12 {
      let start = random.oneIn(6) ? [] : Array(key(&random).prefix(1 + random.below(5)))
      let (prefix, reverse) = (random.below(min(3, start.count) + 1), random.oneIn(3))
      let most = random.oneIn(2) ? Int.max : random.below(5)
      #expect(try list(a, start, prefix, reverse, most) == list(b, start, prefix, reverse, most), "\(start) \(prefix) \(reverse)")
      let keys = try list(a, start, prefix, reverse, most).map(\.first)
      var found: [[UInt8]?] = []
      try start.lent { start throws(StorageError) in
        try b.visitKeys(from: start, sharing: prefix, reverse: reverse) { key in
          if found.count < most { found.append(Array(key)) }
          return found.count < most ? .proceed : .stop
        }
      }
      #expect(found == keys)
      let key = key(&random)
      #expect(try value(a, key) == value(b, key))
      #expect(try key.lent { key throws(StorageError) in try b.lastingValue(for: key).map { Array($0.bytes) } } == value(a, key))
    }
  }

  private func value(_ snapshot: any KeyValueSnapshot, _ key: [UInt8]) throws -> [UInt8]? {
    try key.lent { key throws(StorageError) in try snapshot.value(for: key).map { Array($0) } }
  }

  /// Keys and values in turn.
  private func list(
    _ snapshot: any KeyValueSnapshot, _ start: [UInt8], _ prefix: Int, _ reverse: Bool, _ most: Int
  ) throws -> [[[UInt8]]] {
    var found: [[[UInt8]]] = []
    try start.lent { start throws(StorageError) in
      try snapshot.visit(from: start, sharing: prefix, reverse: reverse) { key, value in
        if found.count < most { found.append([Array(key), Array(value)]) }
        return found.count < most ? .proceed : .stop
      }
    }
    return found
  }

  @Test func nothingOfAValueOrOfAUsersKeyIsBelow() throws {
    let below = MemoryStore(pageSize: 4_096)
    let secret = Array("Murmeltier".utf8)
    let keys = [[10, 0, 1] + secret, [12, 0, 1, 0, 1] + secret, [14] + secret, [6, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9]] as [[UInt8]]
    try commit(keys.map { ($0, secret) }, 1, to: SealedStore(below, cipher))
    let snapshot = try below.beginSnapshot()
    let entries = try list(snapshot, [1], 0, false, .max)
    #expect(entries.count == 6, "four entries, and the directory of side entries")
    #expect(entries.allSatisfy { $0.allSatisfy { Data($0).range(of: Data(secret.prefix(4))) == nil } })
  }

  /// With a checksum that is right, so only the cipher tells.
  @Test func anEntryThatTookAnothersPlaceIsFound() throws {
    let below = MemoryStore(pageSize: 4_096)
    let store = SealedStore(below, cipher)
    let keys = [[3, 0, 1], [3, 0, 2], [10, 0, 1, 5], [10, 0, 1, 6], [14, 5], [14, 6]] as [[UInt8]]
    try commit(keys.map { ($0, $0) }, 1, to: store)
    let snapshot = try below.beginSnapshot()
    let entries = try list(snapshot, [1], 0, false, .max)
    for (first, second) in zip(entries, entries.dropFirst()) {
      let other = MemoryStore(pageSize: 4_096)
      var exchanged: [([UInt8], [UInt8]?)] = [(first[0], second[1]), (second[0], first[1])]
      for entry in entries where entry[0] != first[0] && entry[0] != second[0] { exchanged.append((entry[0], entry[1])) }
      try commit(exchanged, 1, to: other)
      let found = try #require(try SealedStore(other, cipher).beginSnapshot() as? SealedSnapshot)
      var faults: [StoreFault] = []
      try found.verify { faults.append($0) }
      #expect(faults.count >= 2, "\(first[0]) and \(second[0])")
      #expect(throws: StorageError.self) {
        for key in keys { _ = try value(found, key) }
        _ = try list(found, [1], 0, false, .max)
      }
    }
  }

  @Test func anotherKeyOpensNothing() throws {
    let below = MemoryStore(pageSize: 4_096)
    try commit([([3, 0, 1], [1]), ([10, 0, 1, 5], [2])], 1, to: SealedStore(below, cipher))
    let other = EntryCipher(try EncryptionKey.generate().cipher(salt: Array(repeating: 3, count: 16)))
    let snapshot = try SealedStore(below, other).beginSnapshot()
    #expect(throws: StorageError.self) { try value(snapshot, [3, 0, 1]) }
    #expect(try value(snapshot, [10, 0, 1, 5]) == nil, "its name is another one")
    #expect(throws: StorageError.self) { try list(snapshot, [10, 0, 1], 3, false, .max) }
  }

  @Test func noEntryIsEncryptedTwiceInTheSameWay() throws {
    let below = MemoryStore(pageSize: 4_096)
    let store = SealedStore(below, cipher)
    var seen: Set<[UInt8]> = []
    for version in UInt64(1)...200 {
      try commit([([3, 0, 1], [1, 2, 3]), ([14, 1], [])], version, to: store)
      let snapshot = try below.beginSnapshot()
      defer { snapshot.end() }
      for key in [[3, 0, 1]] as [[UInt8]] { seen.insert(Array(try #require(try value(snapshot, key)).prefix(12))) }
    }
    #expect(seen.count == 200)
  }

  /// There may be millions of side entries, and a message store goes through them in each snapshot.
  @Test func aScanKeepsNothingOfWhatItHasDecrypted() throws {
    let store = SealedStore(MemoryStore(pageSize: 4_096), cipher)
    var entries: [([UInt8], [UInt8]?)] = (0..<4_000).map { number in
      ([14, UInt8(number / 256), UInt8(number % 256)] + Array(repeating: 7, count: 40), [1, 2])
    }
    entries += (0..<200).map { ([10, 0, 1, UInt8($0)], [3]) }
    try commit(entries, 1, to: store)
    let snapshot = try #require(try store.beginSnapshot() as? SealedSnapshot)
    defer { snapshot.end() }
    for reverse in [false, true] {
      let start: [UInt8] = reverse ? [15] : [1]
      #expect(try list(snapshot, start, 0, reverse, .max).count == entries.count)
      var count = 0
      try start.lent { start throws(StorageError) in
        try snapshot.visitKeys(from: start, sharing: 0, reverse: reverse) { _ in
          count += 1
          return .proceed
        }
      }
      #expect(count == entries.count)
    }
    var faults: [StoreFault] = []
    try snapshot.verify { faults.append($0) }
    #expect(faults.isEmpty)
    // The record of the directory of side entries: 16 bytes, however many there are.
    #expect(snapshot.keptCount <= 1)
  }

  @Test func whatASnapshotHasLentStaysUntilItEnds() throws {
    let store = SealedStore(MemoryStore(pageSize: 4_096), cipher)
    try commit((0..<200).map { ([7, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, UInt8($0)], Array(repeating: UInt8($0), count: 5_000)) }, 1, to: store)
    let snapshot = try store.beginSnapshot()
    let lent = try (0..<200).map { number in
      try [7, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, UInt8(number)].lent { key throws(StorageError) in try snapshot.value(for: key) }
    }
    try commit([([3, 0, 1], [1])], 2, to: store)
    #expect(lent.enumerated().allSatisfy { number, bytes in bytes?.allSatisfy { $0 == UInt8(number) } == true })
    snapshot.end()
    #expect(throws: StorageError.self) { try value(snapshot, [3, 0, 1]) }
  }
}

extension Array where Element == UInt8 {
  fileprivate func lent<R>(_ body: (UnsafeRawBufferPointer) throws(StorageError) -> R) throws(StorageError) -> R {
    try withUnsafeBufferPointer { bytes throws(StorageError) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
#endif
