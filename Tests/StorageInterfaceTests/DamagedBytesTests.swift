import Foundation
import StoreValues
import Testing
import VivariumTestSupport

@testable import StorageInterface

/// Decoders of this module and of values, given valid bytes with random damage: a value or an error, and nothing that is larger
/// than the bytes are worth.
@Suite struct DamagedBytesTests {
  private let rounds = environmentNumber("VIVARIUM_DAMAGE_ROUNDS", default: 300) * 30

  private func record(_ random: inout SeededGenerator) -> CommitRecord {
    let time = Int64(random.below(1 << 50))
    var record = CommitRecord(author: random.oneIn(2) ? "ada ✎" : nil, origin: random.next(), timeMilliseconds: time)
    for i in 0..<1 + random.below(3) {
      var change = TableChange(table: TableID(UInt16(i + 1)))
      change.inserted = KeyRuns((0..<random.below(9)).map { _ in Int64(1 + random.below(40)) })
      change.deleted = KeyRuns(runs: [50...50 + Int64(random.below(1_000_000))])
      change.modified = (0..<random.below(4)).map {
        ModifiedObject(key: ObjectKey(Int64($0 + 1)), properties: PropertySet([PropertyID(UInt16(random.below(300)))]))
      }
      change.lists = [
        ListChange(
          owner: ObjectKey(1), property: PropertyID(2),
          edits: [.insert(at: random.below(9), count: random.below(9)), .remove(1..<3), .set(at: 1), .move(from: 4, to: 0), .clear])
      ]
      change.collections = [
        RecordedCollectionChange(
          owner: ObjectKey(2), property: PropertyID(3), members: [MemberChange(RandomMixed.value(.mixed, &random), .modified)])
      ]
      record.tables.append(change)
    }
    if random.oneIn(2) {
      let old = RandomMixed.value(.mixed, &random)
      record.values = [RecordedValueChange(ColumnID(TableID(1), PropertyID(1)), ObjectKey(3), old: old, new: .null)]
    }
    return record
  }

  @Test func damagedCommitRecordsAreReadOrRefused() {
    var random = SeededGenerator.forTest()
    for _ in 0..<rounds {
      var bytes = record(&random).encoded()
      for _ in 0...random.below(3) { random.damage(&bytes) }
      guard let read = try? bytes.withUnsafeBytes({ try CommitRecord(version: Version(1), encoded: $0) }) else { continue }
      #expect(read.changeCount >= 0)
      for change in read.tables {
        #expect(change.inserted.count >= 0 && change.deleted.count >= 0)
        for list in change.lists { for edit in list.edits { if case .remove(let range) = edit { #expect(range.upperBound <= 1 << 41) } } }
        for object in change.modified { _ = object.properties.properties }
      }
      _ = read.encoded()
    }
  }

  @Test func damagedMixedValuesAreReadOrRefused() {
    var random = SeededGenerator.forTest()
    for _ in 0..<rounds {
      var bytes = MixedCoding.encode(.list([RandomMixed.value(.mixed, &random), .int(1), RandomMixed.value(.mixed, &random)])) ?? []
      for _ in 0...random.below(3) { random.damage(&bytes) }
      guard let value = bytes.withUnsafeBytes({ MixedCoding.decode($0) }) else { continue }
      _ = value.orderKey
      _ = value.links
      _ = value.description
      #expect(value.order(to: value) == .same)
    }
  }

  @Test func nestingStopsAtItsLimit() {
    var bytes: [UInt8] = [MixedCoding.Tag.isTrue.rawValue]
    for _ in 0..<20_000 {
      bytes = [MixedCoding.Tag.list.rawValue] + withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) } + bytes
      if bytes.count > 60_000 { break }
    }
    #expect(bytes.withUnsafeBytes { MixedCoding.decode($0) } == nil)
  }

  @Test func anyBitsOfADecimalAreANumber() {
    var random = SeededGenerator.forTest()
    for _ in 0..<rounds {
      let (a, b) = (Decimal128(high: random.next(), low: random.next()), Decimal128(high: random.next(), low: random.next()))
      _ = (a + b, a - b, a * b, a / b, a < b, a.description, Double(a), Int64(exactly: a))
      #expect(Decimal128(a.description)?.isIdentical(to: a) == true)
      _ = (Value.decimal(a).orderKey, a.order(to: Double(b)))
    }
  }

  @Test func anyWordOfADateIsATime() {
    var random = SeededGenerator.forTest()
    for i in 0..<rounds {
      let ends: [Int64] = [.min, .min + 1, .max, 1 << 62, -(1 << 62), (1 << 62) - 1]
      let date = Timestamp(word: i < ends.count ? ends[i] : Int64(bitPattern: random.next()))
      _ = (date.description, date.date, date.secondsAndNanoseconds)
    }
  }

  @Test func damagedCatalogsAreReadOrRefused() throws {
    var random = SeededGenerator.forTest()
    let catalog = try Catalog().adopting(DamageSample.schema).catalog
    let json = Array(try JSONEncoder().encode(catalog))
    for _ in 0..<rounds / 10 {
      var bytes = json
      for _ in 0...random.below(3) {
        if random.oneIn(2) { random.damage(&bytes) } else { replaceNumber(&bytes, &random) }
      }
      guard let read = try? bytes.withUnsafeBytes({ try Catalog(json: $0) }) else { continue }
      #expect(read.fault == nil)
      for table in read.tables {
        _ = RowBuffer(table)
        for column in table.columns { _ = column.absentValue }
      }
      _ = try? read.adopting(DamageSample.schema)
    }
  }

  /// Puts another number where there is one.
  private func replaceNumber(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
    guard let at = digits.randomElement(using: &random) else { return }
    let numbers = ["0", "1", "2", "65535", "65536", "-1", "9223372036854775808", "1e9", "0.5"]
    bytes.replaceSubrange(at...at, with: Array(numbers[random.below(numbers.count)].utf8))
  }

  @Test func aRecordThatNamesMoreThanThereCanBeIsDamaged() throws {
    let tooMany: [[ClosedRange<Int64>]] = [[1...Int64.max], [1...1 << 40], [1...1 << 39, (1 << 41)...(1 << 41) + (1 << 39)]]
    for runs in tooMany {
      let record = CommitRecord(tables: [TableChange(table: TableID(1), deleted: KeyRuns(runs: runs))])
      let error = #expect(throws: StorageError.self) {
        try record.encoded().withUnsafeBytes { try CommitRecord(version: Version(1), encoded: $0) }
      }
      #expect(error?.code == .corrupt)
    }
    let most = CommitRecord(tables: [TableChange(table: TableID(1), deleted: KeyRuns(runs: [1...1 << 32]))])
    #expect(try most.encoded().withUnsafeBytes { try CommitRecord(version: Version(1), encoded: $0) }.changeCount == 1 << 32)
  }
}
