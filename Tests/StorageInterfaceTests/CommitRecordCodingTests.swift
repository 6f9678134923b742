import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct CommitRecordCodingTests {
  private let record: CommitRecord = {
    var record = CommitRecord(author: "ada ✎", origin: .max, timeMilliseconds: -5, changedCatalog: true)
    record.tables = [
      TableChange(
        table: TableID(3), inserted: KeyRuns([1, 2, 3, 9]), deleted: KeyRuns(runs: [40...1_000_000]),
        modified: [
          ModifiedObject(key: ObjectKey(12), properties: PropertySet([PropertyID(1), PropertyID(63)])),
          ModifiedObject(key: ObjectKey(Int64.max), properties: PropertySet([PropertyID(200)])),
        ],
        lists: [
          ListChange(
            owner: ObjectKey(12), property: PropertyID(2),
            edits: [.insert(at: 0, count: 3), .remove(1..<2), .set(at: 7), .move(from: 4, to: 0), .clear])
        ],
        collections: [
          RecordedCollectionChange(
            owner: ObjectKey(12), property: PropertyID(4),
            members: [
              MemberChange(.null, .inserted), MemberChange(.double(.nan), .removed), MemberChange(.link(ObjectKey(9)), .inserted),
              MemberChange(.object(ObjectLink(TableID(2), ObjectKey(9))), .removed), MemberChange(.list([.int(1), .null]), .inserted),
            ]),
          RecordedCollectionChange(
            owner: ObjectKey(13), property: PropertyID(5),
            members: [MemberChange(.string(""), .modified), MemberChange(.string("é\0"), .removed)]),
        ])
    ]
    return record
  }()

  @Test func aRecordReadsBackAsItWasWritten() throws {
    var expected = record
    expected.version = Version(7)
    let read = try record.encoded().withUnsafeBytes { try CommitRecord(version: Version(7), encoded: $0) }
    #expect(read == expected)
  }

  @Test func aRecordWithoutMembersIsOfTheFirstFormat() {
    var plain = record
    #expect(record.encoded().first == 2)
    for at in plain.tables.indices { plain.tables[at].collections = [] }
    #expect(plain.encoded().first == 1)
  }

  @Test func valuesReadBackAndAreTheThirdFormat() throws {
    var expected = record
    expected.values = [
      RecordedValueChange(ColumnID(TableID(3), PropertyID(2)), ObjectKey(12), old: .null, new: .string("é\0")),
      RecordedValueChange(ColumnID(TableID(3), PropertyID(2)), ObjectKey(13), old: .double(.nan), new: .link(ObjectKey(9))),
      RecordedValueChange(ColumnID(TableID(4), PropertyID(1)), ObjectKey(1), old: .int(.min), new: .bool(true)),
    ]
    let encoded = expected.encoded()
    #expect(encoded.first == 3)
    let read = try encoded.withUnsafeBytes { try CommitRecord(version: Version(0), encoded: $0) }
    #expect(read == expected)
    for end in encoded.indices {
      #expect(throws: StorageError.self) {
        try encoded[..<end].withUnsafeBytes { _ = try CommitRecord(version: Version(0), encoded: $0) }
      }
    }
  }

  @Test func changesOfAMemberFollowEachOther() {
    typealias Kind = MemberChange.Kind
    let cases: [(Kind, Kind, map: Kind?, set: Kind?)] = [
      (.inserted, .removed, nil, nil), (.inserted, .modified, .inserted, .inserted), (.modified, .removed, .removed, .removed),
      (.modified, .modified, .modified, .modified), (.removed, .inserted, .modified, nil),
    ]
    for (first, second, map, set) in cases {
      #expect(first.followed(by: second, inMap: true) == map, "\(first), \(second)")
      #expect(first.followed(by: second, inMap: false) == set, "\(first), \(second)")
    }
  }

  @Test func everyTruncationOfARecordIsATypedError() {
    let bytes = record.encoded()
    for length in 0..<bytes.count {
      #expect(throws: StorageError.self) {
        try bytes[0..<length].withUnsafeBytes { try CommitRecord(version: Version(1), encoded: $0) }
      }
    }
  }

  @Test func anyBytesAreReadOrRefusedButNeverTrap() {
    var generator = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      var bytes = record.encoded()
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      _ = try? bytes.withUnsafeBytes { try CommitRecord(version: Version(1), encoded: $0) }
    }
  }

  @Test func aNewerFormatIsNamed() throws {
    let error = #expect(throws: StorageError.self) {
      try [UInt8]([99]).withUnsafeBytes { try CommitRecord(version: Version(1), encoded: $0) }
    }
    #expect(error?.code == .unsupportedVersion)
  }

  @Test func keysInAnyOrderBecomeAscendingRuns() {
    let keys = KeyRuns([5, 1, 2, 2, 4, 9])
    #expect(keys.runs == [1...2, 4...5, 9...9])
    #expect(keys.count == 5)
    #expect(keys.contains(4) && !keys.contains(3))
    #expect(Array(keys) == [1, 2, 4, 5, 9])
  }
}
