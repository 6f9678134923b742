import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Bill {
  var amount: Decimal128 = 0
}

@Suite struct KeyValueTests {
  private func refusal(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
    do throws(StoreError) {
      try body()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(arguments: [false, true]) func propertiesAreReadAndSetByName(managed: Bool) throws {
    let store = try makeStore()
    let person = Person(name: "Jane", age: 30)
    try store.beginWrite()
    if managed { try store.add(person) }
    try person.setValue("Joan", forKey: "name")
    try person.setValue(31.0, forKey: "age")
    try person.setValue(["name": "Rex", "age": 4], forKey: "best")
    try person.setValue([["name": "Fido"], Dog(name: "Max")], forKey: "dogs")
    try person.setValue([1, 2.5], forKey: "scores")
    #expect(person.name == "Joan" && person.age == 31 && person.best?.name == "Rex")
    #expect(person.dogs.map(\.name) == ["Fido", "Max"] && person.scores.toArray() == [1, 2.5])
    #expect(try person.value(forKey: "age") as? Int == 31)
    #expect(try person.value(forKey: "nick") == nil)
    #expect((try person.value(forKey: "best") as? Dog)?.age == 4)
    try person.setValue(nil, forKey: "best")
    #expect(person.best == nil)
    #expect(refusal { () throws(StoreError) in try person.setValue(1, forKey: "colour") } == .unknownProperty)
    #expect(refusal { () throws(StoreError) in try person.setValue("x", forKey: "age") } == .typeMismatch)
    #expect(refusal { () throws(StoreError) in try person.setValue(1.5, forKey: "age") } == .typeMismatch)
    #expect(refusal { () throws(StoreError) in try person.setValue(nil, forKey: "name") } == .missingValue)
    #expect(person.name == "Joan" && person.age == 31)
    store.cancelWrite()
  }

  @Test func sumsByNameAreThoseOfEveryOtherDoor() throws {
    let store = try Store(.reference(nil, models: [Bill.self, Person.self, Dog.self]))
    let person = Person(name: "Ann")
    try store.write {
      for amount in ["1E+34", "1", "-1E+34"] { try store.add(Bill(amount: try #require(Decimal128(amount)))) }
      try store.add(person)
      person.scores.append(contentsOf: [1e16, 1, 1, 1, 1, 1, 1, 1, 1, -1e16, 0.1])
    }
    let bills = store.objects(Bill.self)
    #expect(try bills.value(forKeyPath: "@sum.amount") as? Decimal128 == 1 && bills.sum(of: \.amount) == 1)
    #expect(try person.value(forKeyPath: "scores.@sum") as? Double == person.scores.sum())
    #expect(try person.value(forKeyPath: "scores.@avg") as? Double == person.scores.average())
  }

  @Test func settingByNameSaysWhyItCannotBe() throws {
    let store = try makeStore()
    let person = Person(name: "Jane")
    try store.write { try store.add(person) }
    #expect(refusal { () throws(StoreError) in try person.setValue("x", forKey: "name") } == .notInWrite)
    try store.write {
      #expect(refusal { () throws(StoreError) in try person.setValue(UUID(), forKey: "id") } == .primaryKeyIsFixed)
      #expect(refusal { () throws(StoreError) in try person.setValue(person.id, forKey: "id") } == nil)
      try store.delete(person)
      #expect(refusal { () throws(StoreError) in try person.setValue("x", forKey: "name") } == .objectDeleted)
      #expect(refusal { () throws(StoreError) in _ = try person.value(forKey: "name") } == .objectDeleted)
      let dog = Dog()
      try store.add(dog)
      #expect(refusal { () throws(StoreError) in try dog.setValue(1, forKey: "owners") } == .typeMismatch)
    }
  }

  @Test func aSumIsGivenIfItFitsWhateverItsPartsNeed() throws {
    let store = try makeStore()
    try store.write { for age in [Int.max, 1, -1] { try store.add(Dog(name: "", age: age)) } }
    #expect(try store.objects(Dog.self).value(forKeyPath: "@sum.age") as? Int == .max)
    try store.write { try store.add(Dog(name: "", age: 1)) }
    #expect(refusal { () throws(StoreError) in _ = try store.objects(Dog.self).value(forKeyPath: "@sum.age") } == .overflow)
  }

  @Test func pathsGoOverLinksAndAggregateCollections() throws {
    let store = try makeStore()
    let person = Person(name: "Jane", best: Dog(name: "Rex", age: 7))
    person.dogs = LiveList([3, 1, 2].map { Dog(name: "D\($0)", age: $0) })
    try store.write { try store.add(person) }
    #expect(try person.value(forKeyPath: "best.name") as? String == "Rex")
    #expect(try person.value(forKeyPath: "dogs.name") as? [String] == ["D3", "D1", "D2"])
    #expect(try person.value(forKeyPath: "dogs.@count") as? Int == 3)
    #expect(try person.value(forKeyPath: "dogs.@sum.age") as? Int == 6)
    #expect(try person.value(forKeyPath: "dogs.@avg.age") as? Double == 2)
    #expect(try person.value(forKeyPath: "dogs.@max.age") as? Int == 3)
    #expect(try person.value(forKeyPath: "dogs.@min.name") as? String == "D1")
    #expect(try person.value(forKeyPath: "best.bestOf.name") as? String == "Jane")
    #expect(try store.objects(Dog.self).value(forKeyPath: "@sum.age") as? Int == 13)
    #expect(refusal { () throws(StoreError) in _ = try person.value(forKeyPath: "name.length") } == .unknownProperty)
    #expect(refusal { () throws(StoreError) in _ = try person.value(forKeyPath: "dogs.@median.age") } == .unknownProperty)
    try store.write { try person.setValue("Max", forKeyPath: "best.name") }
    #expect(person.best?.name == "Max")
  }

  @Test func aggregatesOverNothingAreNilOrZero() throws {
    let store = try makeStore()
    let person = Person(name: "Jane")
    try store.write {
      try store.add(person)
      for double in [nil, .nan] as [Double?] { try store.add(Everything(double: .nan, maybeDouble: double)) }
    }
    func over(_ whole: String, _ names: [String]) throws -> [String] {
      try names.map { "\(try person.value(forKeyPath: whole + "." + $0) ?? "nil")" }
    }
    let all = ["@min.age", "@max.age", "@sum.age", "@avg.age", "@count"]
    #expect(try over("dogs", all) == ["nil", "nil", "0", "nil", "0"])
    let none = store.objects(Dog.self)
    #expect(try all.map { "\(try none.value(forKeyPath: $0) ?? "nil")" } == ["nil", "nil", "0", "nil", "0"])
    #expect(try [Dog]().value(forKeyPath: "@avg.age") == nil && [Dog]().value(forKeyPath: "@max.name") == nil)
    // NaN is no least and no greatest value, and null no value at all.
    let rows = store.objects(Everything.self)
    #expect(try rows.value(forKeyPath: "@min.double") == nil && rows.value(forKeyPath: "@max.maybeDouble") == nil)
    #expect(try rows.value(forKeyPath: "@avg.maybeInt") == nil && rows.value(forKeyPath: "@count") as? Int == 2)
    try store.write { rows[0].maybeDouble = 2.5 }
    #expect(try rows.value(forKeyPath: "@min.maybeDouble") as? Double == 2.5 && rows.value(forKeyPath: "@max.maybeDouble") as? Double == 2.5)
  }

  @Test func decimalsAreAddedUpAsDecimals() throws {
    let store = try Store(.reference(nil, models: [Bill.self]))
    try store.write { for amount in ["0.1", "0.2", "0.3"] { try store.add(Bill(amount: try #require(Decimal128(amount)))) } }
    let bills = store.objects(Bill.self)
    #expect(try bills.value(forKeyPath: "@sum.amount") as? Decimal128 == Decimal128("0.6"))
    #expect(try bills.value(forKeyPath: "@avg.amount") as? Decimal128 == Decimal128("0.2"))
    #expect(try bills.value(forKeyPath: "@max.amount") as? Decimal128 == Decimal128("0.3"))
  }

  @Test func collectionsAreSetAndReadAsAWhole() throws {
    let store = try makeStore()
    try store.write {
      for age in 0..<5 { try store.add(Dog(name: "D", age: age)) }
      try store.objects(Dog.self).where { $0.age > 2 }.setValue(0, forKey: "age")
    }
    #expect(try store.objects(Dog.self).value(forKey: "age") as? [Int] == [0, 1, 2, 0, 0])
    #expect(store.objects(Dog.self).where { $0.age > 2 }.isEmpty)
  }

  @Test func objectsAreReachedByNamesAlone() throws {
    let store = try makeStore()
    let person = Person(name: "Jane", best: Dog(name: "Rex"))
    person.dogs = [Dog(name: "Fido")]
    try store.write { try store.add(person) }
    let dynamic = try #require(try store.dynamicObject("Person", forPrimaryKey: .uuid(person.id)))
    #expect(dynamic["name"] == .string("Jane") && dynamic.link("best")?["name"] == .string("Rex"))
    #expect(dynamic.objects("dogs")?.map { $0["name"] } == [.string("Fido")] && dynamic.objects("name") == nil)
    #expect(dynamic.link("best")?.objects("bestOf") == [dynamic])
    #expect(store.schema["Person"]?.property(named: "best")?.target == "Dog")
    try store.write {
      let made = try store.dynamicCreate("Dog", ["name": .string("Max")])
      try dynamic.edit("dogs", .insert(at: 0, [.link(made.id.key)]))
      try dynamic.set("age", to: .int(4))
    }
    #expect(person.dogs.map(\.name) == ["Max", "Fido"] && person.age == 4)
    try store.write { try store.delete(dynamic) }
    #expect(person.isInvalidated && dynamic.isInvalidated && dynamic["name"] == nil)
  }

  @Test func listsOfObjectsReachedByNameAreLive() throws {
    let store = try makeStore()
    let person = Person(name: "Jane")
    person.dogs = [Dog(name: "Fido", age: 1), Dog(name: "Rex", age: 4)]
    try store.write { try store.add(person) }
    let dynamic = try #require(try store.dynamicObject("Person", forPrimaryKey: .uuid(person.id)))
    let (dogs, old) = (try dynamic.results("dogs"), try dynamic.results("dogs").filter("age > 2"))
    #expect(dogs.map { $0["name"] } == [.string("Fido"), .string("Rex")] && old.count == 1)
    var heard: [Int] = []
    let token = old.observe { heard.append($0.collection?.count ?? -1) }
    store.refresh()
    try store.write {
      person.dogs.append(Dog(name: "Max", age: 3))
      person.dogs.remove(at: 0)
    }
    store.refresh()
    #expect(dogs.map { $0["name"] } == [.string("Rex"), .string("Max")] && old.count == 2 && heard == [1, 2])
    let owners = try #require(dogs.first).results("owners")
    #expect(owners.map { $0["name"] } == [.string("Jane")])
    for name in ["name", "best", "nope"] {
      #expect { try dynamic.results(name) } throws: { StoreError.Code.unknownProperty ~= $0 }
    }
    token.stop()
  }

  @Test func setsAndMapsAreEditedByName() throws {
    let store = try Store(StoreConfiguration.reference(nil, models: [Shop.self, Clerk.self, Place.self, Room.self]).byHand)
    let shop = Shop()
    try store.write { try store.add(shop) }
    let dynamic = try #require(try store.dynamicObjects("Shop").first)
    var changed: [Bool] = []
    try store.write {
      changed.append(try dynamic.insert(.string("new"), into: "tags"))
      changed.append(try dynamic.insert(.string("new"), into: "tags"))
      changed.append(try dynamic.set(.string("1"), forKey: "home", in: "phones"))
      #expect { try dynamic.insert(.int(1), into: "tags") } throws: { StoreError.Code.typeMismatch ~= $0 }
      #expect { try dynamic.insert(.null, into: "tags") } throws: { StoreError.Code.typeMismatch ~= $0 }
      #expect { try dynamic.insert(.string("x"), into: "phones") } throws: { StoreError.Code.unknownProperty ~= $0 }
      #expect { try dynamic.set(.int(1), forKey: "home", in: "phones") } throws: { StoreError.Code.typeMismatch ~= $0 }
    }
    #expect(changed == [true, false, true])
    #expect(shop.tags.contains("new") && shop.phones["home"] == "1")
    try store.write {
      changed.append(try dynamic.remove(.string("new"), from: "tags"))
      changed.append(try dynamic.remove(key: "home", from: "phones"))
      changed.append(try dynamic.remove(key: "home", from: "phones"))
      try store.delete(shop)
      #expect { try dynamic.insert(.string("x"), into: "tags") } throws: { StoreError.Code.objectDeleted ~= $0 }
    }
    #expect(changed.suffix(3) == [true, true, false])
    #expect { try dynamic.insert(.string("x"), into: "tags") } throws: { StoreError.Code.notInWrite ~= $0 }
  }
}
