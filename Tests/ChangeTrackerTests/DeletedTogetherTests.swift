import ChangeTracker
import Foundation
import StorageConformance
import StorageForwarding
import StorageInterface
import StorageMemory
import StorageReference
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Many objects that are deleted at once leave what points to them, as if each were deleted by itself.
@Suite struct DeletedTogetherTests {
  /// Engines that tell which objects are linked, and one that does not.
  enum Kind: CaseIterable {
    case memory, sqlite, reference

    func open(in folder: TemporaryDirectory) throws -> any StorageEngine {
      switch self {
      case .memory: try MemoryBackend().open(OpenOptions())
      case .sqlite: try SQLiteBackend(path: folder.file().path).open(OpenOptions())
      case .reference: try ReferenceBackend().open(OpenOptions())
      }
    }
  }

  private static let schema = Schema([
    ObjectSchema(
      "Person", .list("dogs", ofLinksTo: "Dog"), .set("friends", ofLinksTo: "Dog"), .map("kennels", ofLinksTo: "Dog"),
      .scalar("any", .mixed), .list("things", of: .mixed)),
    ObjectSchema("Dog", .scalar("name", .string), .link("mother", to: "Dog"), .list("pups", ofLinksTo: "Dog")),
  ])

  /// Dogs and people with random links, most dogs with none.
  private func fill(_ engine: any StorageEngine, _ random: inout SeededGenerator) throws -> (catalog: Catalog, dogs: [ObjectKey]) {
    let catalog = try engine.adopt(DeletedTogetherTests.schema)
    let (person, dog) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    let dogs = try (0..<400).map { _ in try write.insert(RowBuffer(dog)) }
    func one() -> ObjectKey { dogs[random.below(random.oneIn(3) ? 400 : 40)] }
    for _ in 0..<12 {
      let owner = try write.insert(RowBuffer(person))
      let list = (0..<random.below(30)).map { _ in Value.link(one()) }
      try write.edit(person.column(named: "dogs"), owner, .insert(at: 0, list))
      for _ in 0..<random.below(8) { try write.insert(member: .link(one()), into: person.column(named: "friends"), owner) }
      for i in 0..<random.below(5) { try write.set(.link(one()), forKey: "k\(i)", in: person.column(named: "kennels"), owner) }
      if random.oneIn(2) { try write.set(person.column(named: "any"), owner, .object(ObjectLink(dog.id, one()))) }
      if random.oneIn(2) {
        try write.edit(person.column(named: "things"), owner, .insert(at: 0, [.object(ObjectLink(dog.id, one()))]))
      }
    }
    for key in dogs where random.oneIn(10) {
      try write.set(dog.column(named: "mother"), key, .link(one()))
      try write.edit(dog.column(named: "pups"), key, .insert(at: 0, [.link(one()), .link(one())]))
    }
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    return (catalog, dogs)
  }

  @Test(arguments: Kind.allCases) func deletingManyAtOnceIsDeletingEach(kind: Kind) throws {
    var random = SeededGenerator.forTest()
    for round in 0..<environmentNumber("VIVARIUM_DELETIONS", default: 12) {
      let folder = TemporaryDirectory()
      let engine = try kind.open(in: folder)
      defer { engine.close() }
      let (catalog, dogs) = try fill(engine, &random)
      let dog = try #require(catalog["Dog"]).id
      // Some that are not there, in any order.
      var doomed = dogs.filter { _ in random.oneIn(round % 3 + 2) }.map(\.rawValue) + [100_000, 100_003]
      if random.oneIn(2) { doomed.shuffle(using: &random) }

      func deleting(_ body: (RecordedTransaction) throws -> Void) throws -> (picture: Picture, record: CommitRecord) {
        let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
        defer { write.end() }
        try body(write)
        return (try Picture(write.transaction), write.record)
      }
      let each = try deleting { write in
        for key in doomed where key < 100_000 { try write.delete(dog, ObjectKey(key)) }
      }
      let together = try deleting { write in
        let areGone = try write.deletePlainly(dog, doomed)
        #expect(areGone)
      }
      #expect(together.picture == each.picture, "round \(round)")
      #expect(together.record.tables.map(\.deleted) == each.record.tables.map(\.deleted))
      #expect(together.record.tables.map { $0.modified.map(\.key) } == each.record.tables.map { $0.modified.map(\.key) }, "round \(round)")
      // It can be committed too.
      let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
      #expect(try write.deletePlainly(dog, doomed))
      _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
      let read = try engine.beginRead()
      defer { read.end() }
      #expect(try Picture(read) == each.picture, "round \(round)")
    }
  }

  /// Of ten thousand objects, of which a list has three, the list's backlinks alone are looked up.
  @Test(arguments: [Kind.memory, .sqlite]) func objectsThatNothingLinksToCostNoLookUp(kind: Kind) throws {
    let folder = TemporaryDirectory()
    let engine = try kind.open(in: folder)
    defer { engine.close() }
    let catalog = try engine.adopt(DeletedTogetherTests.schema)
    let (person, dog) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
    var write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    let dogs = try (0..<10_000).map { _ in try write.insert(RowBuffer(dog)) }
    let owner = try write.insert(RowBuffer(person))
    try write.edit(person.column(named: "dogs"), owner, .insert(at: 0, [.link(dogs[5_000]), .link(dogs[17]), .link(dogs[5_000])]))
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    let asked = ReadCounts()
    write = RecordedTransaction(CountingWrite(base: try engine.beginWrite(.never), asked), origin: 7)
    defer { write.end() }
    #expect(try write.deletePlainly(dog.id, dogs.map(\.rawValue)))
    #expect(try write.transaction.elementCount(person.column(named: "dogs"), owner) == 0)
    #expect(asked.questions == 2)
  }

  /// The backlinks are in many blocks of an index, whose bounds are no reason to leave any out.
  @Test(arguments: Kind.allCases) func noLinkStaysAmongManyBlocks(kind: Kind) throws {
    let folder = TemporaryDirectory()
    let engine = try kind.open(in: folder)
    defer { engine.close() }
    let catalog = try engine.adopt(DeletedTogetherTests.schema)
    let (person, dog) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
    var write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    let dogs = try (0..<6_000).map { _ in try write.insert(RowBuffer(dog)) }
    let owner = try write.insert(RowBuffer(person))
    let column = person.column(named: "dogs")
    try write.edit(column, owner, .insert(at: 0, dogs.map { .link($0) }))
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    defer { write.end() }
    let doomed = dogs.filter { $0.rawValue % 7 == 0 }
    let areGone = try write.deletePlainly(dog.id, doomed.reversed().map(\.rawValue))
    #expect(areGone)
    #expect(try write.transaction.values(column, owner, 0..<Int.max) == dogs.filter { $0.rawValue % 7 != 0 }.map { .link($0) })
  }

  /// An engine whose index is damaged says so, and nothing stands still.
  @Test func targetsThatGoBackAreDamage() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    defer { engine.close() }
    let catalog = try engine.adopt(DeletedTogetherTests.schema)
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    let reading = BackwardTargets(base: write)
    let error = #expect(throws: StorageError.self) {
      try reading.linked([5, 9], in: try #require(catalog["Dog"]).id, through: try #require(catalog["Person"]).column(named: "dogs"))
    }
    #expect(error?.code == .corrupt)
  }
}

/// Names an object before the one that it is asked from.
private final class BackwardTargets: ForwardingWrite, LinkedTargetReading {
  let base: any WriteTransaction
  init(base: any WriteTransaction) { self.base = base }
  var powers: StoragePowers { StoragePowers(targets: self) }
  func firstTarget(from key: ObjectKey, in table: TableID, through column: ColumnID) throws(StorageError) -> ObjectKey? {
    ObjectKey(key.rawValue - 3)
  }
}
