import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A walk over a long collection reads as it goes, and sees the collection as it was when the walk began.
@Suite struct WalkTests {
  private func filled(_ configuration: Store.Configuration, _ count: Int) throws -> (store: Store, person: Person) {
    let store = try Store(configuration)
    let person = Person()
    for age in 0..<count { person.dogs.append(Dog(name: "\(age)", age: age)) }
    try store.write { try store.add(person) }
    return (store, person)
  }

  @Test(arguments: [0, 1, 255, 256, 257, 1_000]) func everyElementIsWalkedOnce(count: Int) throws {
    let (store, person) = try filled(makeConfiguration(), count)
    var ages: [Int] = []
    for dog in person.dogs { ages.append(dog.age) }
    #expect(ages == Array(0..<count))
    #expect(person.dogs.map(\.age) == ages && Array(person.dogs).map(\.age) == ages && person.dogs.reversed().map(\.age) == ages.reversed())
    try store.write {
      var walked = 0
      for _ in person.dogs { walked += 1 }
      #expect(walked == count)
    }
  }

  @Test func whatIsLeftIsWalkedThoughEachStepIsAWrite() throws {
    let (store, person) = try filled(makeConfiguration(), 700)
    var ages: [Int] = []
    for dog in person.dogs {
      ages.append(dog.age)
      try store.write { try store.delete(dog) }
    }
    #expect(ages == Array(0..<700) && person.dogs.isEmpty)
  }

  @Test func aWalkInAWriteIsNotChangedByEdits() throws {
    let (store, person) = try filled(makeConfiguration(), 600)
    try store.write {
      var walked = 0
      for dog in person.dogs {
        walked += 1
        person.dogs.removeLast()
        if walked % 2 == 0 { person.dogs.insert(dog, at: 0) }
      }
      #expect(walked == 600)
    }
  }

  @Test func aWalkGoesOnWhenTheStoreMovesOn() throws {
    let configuration = makeConfiguration()
    let (store, person) = try filled(configuration, 600)
    let other = try Store(configuration)
    var walked = 0
    for _ in person.dogs {
      walked += 1
      if walked == 300 {
        try other.write { try other.delete(other.objects(Dog.self).where { $0.age > 400 }) }
        store.refresh()
      }
    }
    #expect(walked == 600 && person.dogs.count == 401)
  }
}
