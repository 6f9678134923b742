import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A store of the test models on the reference engine.
/// - Parameter misuse: `.ignore` in a test that makes mistakes of the program on purpose.
func makeStore(_ name: String? = nil, misuse: MisusePolicy = .trapInDebug) throws -> Store {
  try Store(makeConfiguration(name, misuse: misuse))
}

func makeConfiguration(_ name: String? = nil, misuse: MisusePolicy = .trapInDebug) -> Store.Configuration {
  var configuration = StoreConfiguration.reference(
    name, models: [Person.self, Dog.self, Everything.self, Message.self, Node.self])
  configuration.misuse = misuse
  configuration.manualDelivery = true
  return configuration
}

@Suite struct ObjectTests {
  @Test func anUnmanagedObjectHasValuesOfItsOwn() {
    let person = Person(name: "Jane", age: 17)
    person.age += 1
    person.dogs.append(Dog(name: "Rex"))
    person.visits = [3]
    #expect(person.isAdult)
    #expect(person.dogs.map(\.name) == ["Rex"])
    #expect(!person.isManaged && !person.isInvalidated)
    #expect(Person.species == "human")
  }

  @Test func anAddedObjectReadsAndWritesThrough() throws {
    let store = try makeStore()
    let person = Person(name: "Jane", age: 30)
    try store.write { try store.add(person) }
    let other = try #require(store.object(Person.self, forPrimaryKey: person.id))
    #expect(other !== person)
    #expect(other == person && person.isSameObject(as: other) && other.hashValue == person.hashValue)
    try store.write { other.age = 31 }
    #expect(person.age == 31)
    #expect(person.name == "Jane")
    #expect(person.nick == nil)
    try store.write { person.nick = "J" }
    #expect(other.nick == "J")
    #expect(person.objectIdentifier == "Person-\(person.id)")
    #expect(person["age"] == .int(31) && person["dogs"] == nil)
  }

  @Test func everyTypeComesBackBitExact() throws {
    let store = try makeStore()
    let object = Everything(
      flag: true, int: .min, int8: .min, int16: .max, int32: .min, int64: .max, float: -0.0, double: .nan,
      string: "日本\0x", data: Data([0, 255]), date: Date(timeIntervalSince1970: -1e9), uuid: UUID(), mood: .wild,
      rank: .high)
    let uuid = object.uuid
    try store.write { try store.add(object) }
    #expect(object.flag && object.int == .min && object.int8 == .min && object.int16 == .max)
    #expect(object.int32 == .min && object.int64 == .max)
    #expect(object.float.bitPattern == (-Float(0)).bitPattern && object.double.isNaN)
    #expect(object.string == "日本\0x" && object.data == Data([0, 255]))
    #expect(object.date == Date(timeIntervalSince1970: -1e9) && object.uuid == uuid)
    #expect(object.mood == .wild && object.rank == .high)
    #expect(object.maybeFlag == nil && object.maybeInt == nil && object.maybeFloat == nil && object.maybeData == nil)
    #expect(object.maybeDate == nil && object.maybeUUID == nil && object.maybeMood == nil && object.maybeRank == nil)
  }

  @Test func everyOptionalCanBeSetAndCleared() throws {
    let store = try makeStore()
    let object = Everything()
    try store.write {
      try store.add(object)
      object.maybeFlag = false
      object.maybeInt = 0
      object.maybeInt8 = -1
      object.maybeFloat = 1.5
      object.maybeDouble = -0.0
      object.maybeString = ""
      object.maybeData = Data()
      object.maybeDate = Date(timeIntervalSinceReferenceDate: 0)
      object.maybeUUID = object.uuid
      object.maybeMood = .wild
      object.maybeRank = .high
    }
    #expect(object.maybeFlag == false && object.maybeInt == 0 && object.maybeInt8 == -1 && object.maybeFloat == 1.5)
    #expect(object.maybeDouble?.sign == .minus && object.maybeString == "" && object.maybeData == Data())
    #expect(object.maybeDate == Date(timeIntervalSinceReferenceDate: 0) && object.maybeUUID == object.uuid)
    #expect(object.maybeMood == .wild && object.maybeRank == .high)
    try store.write {
      object.maybeInt = nil
      object.maybeString = nil
      object.maybeMood = nil
    }
    #expect(object.maybeInt == nil && object.maybeString == nil && object.maybeMood == nil)
  }

  @Test func aDeletedObjectReadsAsZeroesAndSaysSo() throws {
    let store = try makeStore()
    let people = (0..<100).map { Person(name: "P\($0)", age: $0) }
    try store.write { try store.add(people) }
    try store.write { try store.delete(store.objects(Person.self)) }
    for person in people {
      #expect(person.isInvalidated && person.name == "" && person.age == 0 && person.nick == nil)
      #expect(person.best == nil && person.dogs.isEmpty)
    }
    #expect(throws: StoreError.self) { try people[0].value(of: \.name) }
    do { _ = try people[0].value(of: \.age) } catch { #expect(error.code == .objectDeleted) }
  }

  @Test func settingOutsideAWriteChangesNothing() throws {
    let store = try makeStore(misuse: .ignore)
    let person = Person(name: "Jane")
    try store.write { try store.add(person) }
    person.name = "Joan"
    #expect(person.name == "Jane")
  }

  @Test func thePrimaryKeyOfAnAddedObjectIsFixed() throws {
    let store = try makeStore()
    let person = Person(name: "Jane")
    let id = person.id
    try store.write {
      try store.add(person)
      do throws(StoreError) {
        try person.set(\.id, to: UUID())
        Issue.record("set")
      } catch {
        #expect(error.code == .primaryKeyIsFixed)
      }
      person.id = id
    }
    #expect(person.id == id)
  }

  @Test func anObjectKeepsItsStore() throws {
    func first() throws -> Person {
      let store = try makeStore()
      let person = Person(name: "Jane")
      try store.write { try store.add(person) }
      return person
    }
    let person = try first()
    #expect(person.name == "Jane" && person.store != nil)
  }

  @Test func aReferenceResolvesInsideAWrite() async throws {
    let store = try makeStore()
    let person = Person(name: "Jane", age: 1)
    try store.write { try store.add(person) }
    let reference = person.reference
    try await store.write { store in reference.resolve(in: store)?.age += 1 }
    #expect(person.age == 2)
    try store.write { try store.delete(person) }
    #expect(store.resolve(reference) == nil)
  }
}
