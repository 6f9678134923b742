import StorageInterface
import StoreValues
import Testing

@testable import Notifications

/// The commits of this process that a notifier has at hand.
@Suite struct OwnRecordsTests {
  private func record(_ version: UInt64, changes: Int = 1) -> CommitRecord {
    var change = TableChange(table: TableID(1))
    change.inserted = KeyRuns(1..<Int64(changes) + 1)
    var record = CommitRecord(tables: changes == 0 ? [] : [change])
    record.version = Version(version)
    return record
  }

  private func versions(_ own: OwnRecords, _ after: UInt64, _ newest: UInt64) -> [UInt64]? {
    own.records(after: Version(after), to: Version(newest))?.map(\.version.rawValue)
  }

  @Test func successiveCommitsAreThereFromAnyOfThem() {
    let own = OwnRecords()
    #expect(versions(own, 0, 1) == nil)
    for version in 5...9 as ClosedRange<UInt64> { own.add(record(version)) }
    #expect(versions(own, 4, 9) == [5, 6, 7, 8, 9])
    #expect(versions(own, 6, 8) == [7, 8])
    #expect(versions(own, 3, 9) == nil && versions(own, 4, 10) == nil && versions(own, 9, 9) == nil)
  }

  @Test func aCommitOfAnotherProcessBetweenLeavesNoneFromBefore() {
    let own = OwnRecords()
    own.add(record(5))
    own.add(record(7))
    #expect(versions(own, 4, 7) == nil && versions(own, 5, 7) == nil)
    #expect(versions(own, 6, 7) == [7])
    own.clear()
    #expect(versions(own, 6, 7) == nil)
  }

  @Test func whatIsKeptIsBounded() {
    let own = OwnRecords()
    for version in 1...1_000 as ClosedRange<UInt64> { own.add(record(version)) }
    #expect(versions(own, 999, 1_000) == [1_000] && versions(own, 900, 1_000)?.count == 100)
    #expect(versions(own, 700, 1_000) == nil)
    // By what they name, too; one that names too much is read where it is kept.
    for version in 1_001...1_010 as ClosedRange<UInt64> { own.add(record(version, changes: 20_000)) }
    #expect(versions(own, 1_000, 1_010) == nil && versions(own, 1_009, 1_010) == [1_010])
    own.add(record(1_011, changes: 1_000_000))
    #expect(versions(own, 1_010, 1_011) == nil)
    own.add(record(1_012))
    #expect(versions(own, 1_011, 1_012) == [1_012])
  }
}
