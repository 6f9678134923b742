import ChangeTracker
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct RecordedTransactionTests {
  private let engine: any StorageEngine
  private let person: TableEntry
  private let dog: TableEntry

  init() throws {
    engine = try ReferenceBackend().open(OpenOptions())
    let catalog = try engine.adopt(
      Schema([
        ObjectSchema(
          "Person", .scalar("name", .string), .scalar("age", .int64), .link("best", to: "Dog"),
          .list("dogs", ofLinksTo: "Dog")),
        ObjectSchema("Dog", .scalar("name", .string)),
      ]))
    person = try #require(catalog["Person"])
    dog = try #require(catalog["Dog"])
  }

  private func begin() throws -> RecordedTransaction {
    RecordedTransaction(try engine.beginWrite(.never), origin: 7)
  }

  /// A person with two dogs, the first twice in the list and linked as best; committed.
  private func givenOwner() throws -> (person: ObjectKey, dogs: [ObjectKey]) {
    let write = try begin()
    let dogs = [try write.insert(RowBuffer(dog)), try write.insert(RowBuffer(dog))]
    let row = RowBuffer(person)
    row.set(try #require(person.slot(of: person.id("best"))), word: dogs[0].rawValue)
    let owner = try write.insert(row)
    try write.edit(
      person.column(named: "dogs"), owner,
      .insert(at: 0, [.link(dogs[0]), .link(dogs[1]), .link(dogs[0])]))
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
    return (owner, dogs)
  }

  @Test func insertedObjectsAreOneRunAndNeverAlsoModified() throws {
    let write = try begin()
    let first = try write.insert(RowBuffer(person))
    _ = try write.insert(RowBuffer(person))
    try write.set(person.column(named: "age"), first, word: 3)
    let change = try #require(write.record.tables.first)
    #expect(change.inserted.runs == [1...2])
    #expect(change.modified.isEmpty && change.lists.isEmpty)
  }

  @Test func insertedAndDeletedIsNothing() throws {
    let write = try begin()
    let key = try write.insert(RowBuffer(dog))
    try write.delete(dog.id, key)
    #expect(write.record.tables.isEmpty)
    #expect(write.isEmpty)
  }

  @Test func anEqualValueIsNoChange() throws {
    let (owner, dogs) = try givenOwner()
    let write = try begin()
    #expect(try !write.set(person.column(named: "age"), owner, word: 0))
    #expect(try !write.set(person.column(named: "name"), owner, .string("")))
    #expect(try !write.set(person.column(named: "best"), owner, .link(dogs[0])))
    #expect(write.record.tables.isEmpty)
    #expect(try write.set(person.column(named: "age"), owner, word: 4))
    #expect(
      write.record.tables.first?.modified
        == [ModifiedObject(key: owner, properties: PropertySet([person.id("age")]))])
  }

  @Test func deletingTakesTheObjectOutOfLinksAndListsAndRecordsThat() throws {
    let (owner, dogs) = try givenOwner()
    let write = try begin()
    try write.delete(dog.id, dogs[0])
    #expect(try write.transaction.word(person.column(named: "best"), owner) == nil)
    #expect(try write.transaction.values(person.column(named: "dogs"), owner, 0..<9) == [.link(dogs[1])])
    let changes = write.record.tables
    #expect(changes.map(\.table) == [person.id, dog.id])
    #expect(changes[0].modified.first?.properties == PropertySet([person.id("best"), person.id("dogs")]))
    #expect(changes[0].lists.first?.edits == [.remove(2..<3), .remove(0..<1)])
    #expect(changes[1].deleted.runs == [dogs[0].rawValue...dogs[0].rawValue])
  }

  @Test func deletingTheOwnerForgetsItsOtherChanges() throws {
    let (owner, _) = try givenOwner()
    let write = try begin()
    try write.set(person.column(named: "age"), owner, word: 9)
    try write.edit(person.column(named: "dogs"), owner, .clear)
    try write.delete(person.id, owner)
    let change = try #require(write.record.tables.first)
    #expect(change.deleted.contains(owner.rawValue))
    #expect(change.modified.isEmpty && change.lists.isEmpty)
  }

  @Test func aRolledBackPartIsInNoRecord() throws {
    let (owner, _) = try givenOwner()
    let write = try begin()
    try write.set(person.column(named: "age"), owner, word: 1)
    try write.beginSavepoint()
    try write.edit(person.column(named: "dogs"), owner, .clear)
    _ = try write.insert(RowBuffer(dog))
    try write.rollbackToSavepoint()
    #expect(try write.transaction.elementCount(person.column(named: "dogs"), owner) == 3)
    #expect(write.record.tables.count == 1)
    #expect(write.record.tables.first?.modified.first?.properties == PropertySet([person.id("age")]))
  }

  @Test func editsThatChangeNothingAreNotRecorded() throws {
    let (owner, _) = try givenOwner()
    let write = try begin()
    let dogs = person.column(named: "dogs")
    try write.edit(dogs, owner, .insert(at: 0, []))
    try write.edit(dogs, owner, .move(from: 1, to: 1))
    try write.edit(dogs, owner, .remove(2..<2))
    #expect(write.isEmpty)
  }

  @Test func theCommittedRecordCarriesAuthorOriginAndTime() throws {
    let write = try begin()
    _ = try write.insert(RowBuffer(dog))
    let version = try write.commit(author: "ada", timeMilliseconds: 12, .relaxed)
    let read = try engine.beginRead()
    var records: [CommitRecord] = []
    try read.history(after: Version(version.rawValue - 1)) { record in
      records.append(record)
      return .proceed
    }
    #expect(records.map(\.author) == ["ada"])
    #expect(records.map(\.origin) == [7])
    #expect(records.map(\.timeMilliseconds) == [12])
  }
}
