import Testing
import Vivarium

/// One property of many objects, set without them.
@Suite struct UpdatingTests {
  @Test func aPropertyOfManyObjectsIsSetAtOnce() throws {
    let store = try makeStore()
    try store.write {
      for age in 0..<6 { try store.add(Dog(name: "\(age % 2)", age: age)) }
      try store.add([Everything(maybeInt: 1), Everything(maybeInt: nil)])
    }
    let dogs = store.objects(Dog.self)
    let (rows, property) = (Heard(), HeardProperties())
    property.follow(dogs[5], \.age) { "\($0.oldValue ?? -1)>\($0.newValue ?? -1)" }
    let token = dogs.observe { rows.hear($0) }
    store.refresh()
    #expect(rows.take() == [.initial(6)])
    try store.write {
      // Of these none is left when the first was set.
      let old = dogs.where { $0.age > 3 }
      let first = try store.update(old, set: \.age, to: 3)
      #expect(first == 2 && dogs.map(\.age) == [0, 1, 2, 3, 3, 3] && old.isEmpty && property.take() == ["5>3"])
      // One has the value already, and is not touched.
      let second = try store.update(dogs.where { $0.age > 1 }, set: \.age, to: 3)
      #expect(second == 1 && property.take() == [])
      let nulled = try store.update(store.objects(Everything.self), set: \.maybeInt, to: nil)
      #expect(nulled == 1)
      #expect(store.objects(Everything.self).allSatisfy { $0.maybeInt == nil })
    }
    store.refresh()
    #expect(rows.take() == [Heard.update([], [], [2, 4, 5])])
    token.stop()
    property.stop()
  }

  @Test func whatCannotBeSetIsRefusedAndNothingOfItStays() throws {
    let store = try makeStore()
    try store.write {
      try store.add(Person(name: "Ann", age: 4))
      for number in 1...3 { try store.add(Message(number: number, shout: "\(number)")) }
    }
    func code(_ body: () throws -> Void) -> StoreError.Code? {
      do {
        try body()
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
    let (people, messages) = (store.objects(Person.self), store.objects(Message.self))
    #expect(code { () throws in try store.update(people, set: \.age, to: 1) } == .notInWrite)
    try store.write {
      #expect(code { () throws in try store.update(messages, set: \.code, to: "X") } == .uniqueViolation)
      #expect(messages.map(\.code) == ["1", "2", "3"])
      #expect(code { () throws in try store.update(messages, set: \.number, to: 9) } == .primaryKeyIsFixed)
      #expect(code { () throws in try store.update(people, set: \.isAdult, to: true) } == .unknownProperty)
      #expect(code { () throws in try store.update(people.filter("nonsense ="), set: \.age, to: 1) } == .invalidQuery)
      try store.update(messages, set: \.text, to: "same")
    }
    #expect(messages.map(\.text) == ["same", "same", "same"] && people[0].age == 4)
  }
}
