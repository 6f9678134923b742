import StorageConformance
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct ReferenceStorageTests {
  private let schema = Schema([
    ObjectSchema(
      "Person", .scalar("id", .int64, primaryKey: true), .scalar("name", .string, indexed: true),
      .link("best", to: "Person"), .list("friends", ofLinksTo: "Person"))
  ])

  @Test func whatIsWrittenIsReadAndAnOlderSnapshotStaysAsItWas() throws {
    let engine = try ReferenceBackend().open(OpenOptions())
    let person = try #require(try engine.adopt(schema)["Person"])
    let before = try engine.beginRead()
    var keys: [ObjectKey] = []
    try engine.write { write in
      for i in 0..<500 { keys.append(try write.insert(person, ["id": .int(Int64(i)), "name": .string("n\(i % 7)")])) }
      try write.edit(person.column(named: "friends"), keys[0], .insert(at: 0, [.link(keys[1]), .link(keys[1])]))
    }
    let after = try engine.beginRead()
    #expect(try before.count(person.id) == 0)
    #expect(try after.count(person.id) == 500)
    var seen: [ObjectKey] = []
    var ids: [Int64] = []
    try after.scan(person.id, [person.id("id")], from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        seen.append(batch.key(at: row))
        ids.append(batch.columns[0].word(at: row))
      }
      return .proceed
    }
    #expect(seen == keys)
    #expect(ids == (0..<500).map { Int64($0) })
    #expect(try after.count(in: person.index("name"), IndexRange(equal: [.string("n3")])) == 71)
    var sources: [Int64] = []
    try after.sources(of: keys[1], through: person.column(named: "friends")) { block in
      sources += block
      return .proceed
    }
    #expect(sources == [1, 1])
  }

  @Test func listenersHearOfCommits() throws {
    let engine = try ReferenceBackend().open(OpenOptions())
    let signal = Signal()
    let listener = try engine.addCommitListener { signal.fire() }
    try engine.adopt(schema)
    #expect(signal.wait())
    listener.stop()
  }
}

@Suite struct ReferenceConformanceTests {
  private static let subject = ConformanceSubject({ ReferenceBackend() }, persists: true)

  @Test(arguments: StorageConformance.allChecks) func check(_ check: ConformanceCheck) async throws {
    try await check.run(Self.subject)
  }
}
