import ChangeTracker
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

/// Deleted objects leave the lists that they are in, and leaving costs no walk of the list for each.
@Suite struct DeletedElementsTests {
  private let engine: any StorageEngine
  private let person: TableEntry
  private let dog: TableEntry
  private var dogs: ColumnID { person.column(named: "dogs") }

  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    let catalog = try engine.adopt(
      Schema([
        ObjectSchema("Person", .list("dogs", ofLinksTo: "Dog"), .set("friends", ofLinksTo: "Dog")),
        ObjectSchema("Dog", .scalar("name", .string)),
      ]))
    person = try #require(catalog["Person"])
    dog = try #require(catalog["Dog"])
  }

  /// An owner whose list has the elements, by the numbers of `count` dogs.
  private func given(_ count: Int, _ elements: [Int]) throws -> (owner: ObjectKey, dogs: [ObjectKey]) {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    let keys = try (0..<count).map { _ in try write.insert(RowBuffer(dog)) }
    let owner = try write.insert(RowBuffer(person))
    try write.edit(dogs, owner, .insert(at: 0, elements.map { .link(keys[$0]) }))
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    return (owner, keys)
  }

  @Test func manyDeletesOfOneWriteWalkALongListTwice() throws {
    let count = 2_000
    let (owner, keys) = try given(count, Array(0..<count))
    let reads = ReadCounts()
    let write = RecordedTransaction(CountingWrite(base: try engine.beginWrite(.never), reads), origin: 7)
    var random = SeededGenerator.forTest("manyDeletesOfOneWriteWalkALongListTwice")
    for key in keys[500..<1_500].shuffled(using: &random) { try write.delete(dog.id, key) }
    #expect(try write.transaction.values(dogs, owner, 0..<Int.max) == (keys[..<500] + keys[1_500...]).map { .link($0) })
    #expect(reads.elements <= 2 * count + 1_000)
  }

  /// Whatever else is done with the list in the same write.
  @Test func theRightElementsGoWhateverElseIsEdited() throws {
    var random = SeededGenerator.forTest("theRightElementsGoWhateverElseIsEdited")
    for round in 0..<environmentNumber("VIVARIUM_DELETIONS", default: 6) {
      let count = 400 + random.below(400)
      var model = (0..<count * 2).map { _ in random.below(count) }
      let (owner, keys) = try given(count, model)
      let write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
      var living = Set(0..<count)
      var saved: (model: [Int], living: Set<Int>)?
      for _ in 0..<120 {
        guard let dogNumber = living.min(by: { $0 ^ round < $1 ^ round }) else { break }
        switch random.below(14) {
        case 0:
          let at = random.below(model.count + 1)
          model.insert(dogNumber, at: at)
          try write.edit(dogs, owner, .insert(at: at, [.link(keys[dogNumber])]))
        case 1 where !model.isEmpty:
          let at = random.below(model.count)
          model.remove(at: at)
          try write.edit(dogs, owner, .remove(at..<at + 1))
        case 2 where saved == nil:
          try write.beginSavepoint()
          saved = (model, living)
        case 3:
          guard let before = saved else { continue }
          saved = nil
          try write.rollbackToSavepoint()
          (model, living) = before
        default:
          let gone = living.sorted()[random.below(living.count)]
          living.remove(gone)
          model.removeAll { $0 == gone }
          try write.delete(dog.id, keys[gone])
        }
      }
      #expect(try write.transaction.values(dogs, owner, 0..<Int.max) == model.map { .link(keys[$0]) }, "round \(round)")
      write.end()
    }
  }

  @Test func aDeletedMemberOfASetIsFoundWithoutAWalk() throws {
    let (owner, keys) = try given(1_000, [])
    let friends = person.column(named: "friends")
    var write = RecordedTransaction(try engine.beginWrite(.never), origin: 7)
    for key in keys { try write.insert(member: .link(key), into: friends, owner) }
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    let reads = ReadCounts()
    write = RecordedTransaction(CountingWrite(base: try engine.beginWrite(.never), reads), origin: 7)
    for key in keys[..<900] { try write.delete(dog.id, key) }
    #expect(reads.elements == 0)
    #expect(Set(try write.transaction.values(friends, owner, 0..<Int.max)) == Set(keys[900...].map { .link($0) }))
  }

  /// What the places of all lists take is bounded, and a list without room costs what it did.
  @Test func aListWithoutRoomIsNotKept() throws {
    var cache = ElementPlacesCache(countMax: 1_000)
    let lists = (1...3).map { ElementPlacesCache.List(column: dogs, owner: ObjectKey($0)) }
    for (list, count) in zip(lists, [600, 500, 1_001]) { cache.noteWalk(list, count: count) }
    #expect(lists.map { cache.isWorthKeeping($0) } == [true, true, false])
    cache.keep(try #require(ElementPlaces(Array(1...600))), of: lists[0])
    #expect(!cache.isWorthKeeping(lists[1]))
    cache.remove(lists[0])
    #expect(cache.isWorthKeeping(lists[1]))
  }
}
