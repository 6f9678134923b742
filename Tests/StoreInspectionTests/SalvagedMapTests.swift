import StorageInterface
import StorageMemory
import StorageReference
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct SalvagedMapTests {
  private static let schema = Schema([
    ObjectSchema("Pup", .map("friends", ofLinksTo: "Pup"), .map("things", of: .mixed), .list("others", ofLinksTo: "Pup"))
  ])

  /// A map of links cannot have null where a link was.
  @Test func aMapOfASalvagedObjectLosesTheKeysWhoseObjectsAreLost() throws {
    let source = try MemoryBackend().open(OpenOptions())
    let pup = try #require(try source.adopt(SalvagedMapTests.schema)["Pup"])
    let (friends, things) = (pup.column(named: "friends"), pup.column(named: "things"))
    try source.write { write in
      let first = try write.insert(pup)
      let second = try write.insert(pup)
      let lost = ObjectKey(second.rawValue + 1)
      _ = try write.set(.link(second), forKey: "a", in: friends, first)
      _ = try write.set(.link(lost), forKey: "b", in: friends, first)
      _ = try write.set(.object(ObjectLink(pup.id, lost)), forKey: "c", in: things, first)
      try write.edit(pup.column(named: "others"), first, .insert(at: 0, [.link(lost), .link(second)]))
    }
    let target = try ReferenceBackend(name: nil, seed: 5).open(OpenOptions())
    let outcomes = try StoreSalvage.run(source, to: target)
    #expect(outcomes.map(\.saved) == [2] && outcomes.map(\.cutLinks) == [3])
    let read = try target.beginRead()
    defer { read.end() }
    let (first, second) = (ObjectKey(1), ObjectKey(2))
    #expect(try ValueMap(read.entries(friends, first, 0..<Int.max)) == ValueMap([ValueMap.Entry("a", .link(second))]))
    #expect(try ValueMap(read.entries(things, first, 0..<Int.max)) == ValueMap([ValueMap.Entry("c", .null)]))
    #expect(try read.values(pup.column(named: "others"), first, 0..<Int.max) == [.link(second)])
  }
}
