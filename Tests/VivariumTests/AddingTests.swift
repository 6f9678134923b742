import Foundation
import StoreValues
import Testing
import Vivarium

@Suite struct AddingTests {
  @Test func aDuplicateKeyIsTypedAndTheTransactionGoesOn() throws {
    let store = try makeStore()
    try store.write {
      try store.add(Message(number: 1, shout: "a"))
      let second = Message(number: 1, shout: "b")
      do throws(StoreError) {
        try store.add(second)
        Issue.record("added twice")
      } catch {
        #expect(error.code == .primaryKeyExists)
        #expect(error.details["type"] == "Message" && error.details["key"] == "1")
      }
      #expect(!second.isManaged && second.code == "B")
      try store.add(Message(number: 2, shout: "c"))
    }
    #expect(store.objects(Message.self).map(\.code) == ["A", "C"])
  }

  @Test func aUniqueValueIsRefusedByName() throws {
    let store = try makeStore()
    try store.write { try store.add(Message(number: 1, shout: "a")) }
    do {
      try store.write { try store.add(Message(number: 2, shout: "a")) }
      Issue.record("added twice")
    } catch StoreError.Code.uniqueViolation {
      #expect(store.objects(Message.self).count == 1)
    }
  }

  @Test func aRequiredValueNeverSetIsMissed() throws {
    let store = try makeStore()
    let message = Message(_$blank: ())
    message.number = 3
    #expect(message.code == "")
    do {
      try store.write { try store.add(message) }
      Issue.record("added without a code")
    } catch let error as StoreError {
      #expect(error.code == .missingValue && error.details == ["type": "Message", "property": "code"])
    }
    #expect(store.objects(Message.self).isEmpty)
  }

  @Test func linkedObjectsAreAddedToo() throws {
    let store = try makeStore()
    let rex = Dog(name: "Rex")
    let person = Person(name: "Jane", best: rex)
    person.dogs = [rex, Dog(name: "Fido"), rex]
    person.scores = [1.5, -0.0]
    try store.write { try store.add(person) }
    #expect(rex.isManaged && store.objects(Dog.self).count == 2)
    #expect(person.dogs.map(\.name) == ["Rex", "Fido", "Rex"] && person.best == rex)
    #expect(person.scores.toArray() == [1.5, 0])
    #expect(rex.owners.map(\.name) == ["Jane", "Jane"] && rex.bestOf == person)
  }

  @Test func cyclesAndLongChainsAreAdded() throws {
    let store = try makeStore()
    let ring = Node(label: 1)
    ring.next = Node(label: 2, next: ring)
    var chain = Node(label: 0)
    for label in 1..<20_000 { chain = Node(label: label, next: chain) }
    try store.write {
      try store.add(ring)
      try store.add(chain)
    }
    #expect(ring.next?.next == ring)
    #expect(store.objects(Node.self).count == 20_002)
    #expect(chain.next?.label == 19_998)
    try store.write { try store.deleteAll() }
  }

  @Test func aFailedDeepAddLeavesNothing() throws {
    let store = try makeStore()
    let other = try makeStore()
    let foreign = Dog(name: "Foreign")
    try other.write { try other.add(foreign) }
    let person = Person(name: "Jane", best: foreign)
    try store.write {
      #expect(throws: StoreError.self) { try store.add(person) }
      #expect(store.objects(Person.self).isEmpty)
    }
    #expect(!person.isManaged && person.name == "Jane")
    person.best = nil
    try store.write { try store.add(person) }
    #expect(person.isManaged)
  }

  @Test func modifiedWritesToTheStoredObject() throws {
    let store = try makeStore()
    let first = Person(name: "Jane", age: 1)
    first.dogs = [Dog(name: "Rex")]
    try store.write { try store.add(first) }
    let second = Person(id: first.id, name: "Jane", age: 2)
    try store.write { try store.add(second, update: .modified) }
    #expect(store.objects(Person.self).count == 1 && second == first)
    #expect(first.age == 2 && first.dogs.isEmpty)
  }

  @Test func createTakesDictionaries() throws {
    let store = try makeStore()
    let person = try store.write {
      try store.create(
        Person.self,
        value: [
          "name": "Jane", "age": 3, "nick": nil, "best": ["name": "Rex"], "dogs": [["name": "Fido"], Dog(name: "Max")],
          "scores": [1, 2.5],
        ]).reference
    }
    let jane = try #require(store.resolve(person))
    #expect(jane.name == "Jane" && jane.age == 3 && jane.best?.name == "Rex")
    #expect(jane.dogs.map(\.name) == ["Fido", "Max"] && jane.scores.toArray() == [1, 2.5])
  }

  @Test func createSaysWhatIsMissingUnknownOrWrong() throws {
    let store = try makeStore()
    try store.write {
      func code(_ value: [String: Any?]) -> StoreError.Code? {
        do throws(StoreError) {
          try store.create(Message.self, value: value)
          return nil
        } catch {
          return error.code
        }
      }
      #expect(code(["number": 1]) == .missingValue)
      #expect(code(["number": 1, "code": "a", "colour": "red"]) == .unknownProperty)
      #expect(code(["number": "one", "code": "a"]) == .typeMismatch)
      #expect(code(["number": nil, "code": "a"]) == .missingValue)
      #expect(code(["number": 1, "code": "a"]) == nil)
      #expect(code(["number": 1, "code": "b"]) == .primaryKeyExists)
    }
    #expect(store.objects(Message.self).first?.text == "…")
  }
}
