import StoreOperations
import Testing
import Vivarium

@Suite struct OperatorTests {
  @Test func objectsAreFoundByKeyTypeAndReference() throws {
    let store = try makeStore()
    let rex = try store.run(io: StoreRW<Dog>.create(value: ["name": "Rex", "age": 2]))
    #expect(try store.run(io: Store.IO.object(ofType: Dog.self, forPrimaryKey: "Rex")) == rex)
    #expect(try store.run(io: StoreRO<Dog?>.object(forPrimaryKey: "Rex")) == rex)
    #expect(try store.run(io: Store.IO.object(rex.reference)) == rex)
    #expect(try store.run(io: Store.IO.object(ofType: Dog.self, forPrimaryKey: "Fido")) == nil)
    #expect(try store.run(io: Store.IO.dynamicObjects("Dog")).map { $0["age"] } == [.int(2)])
    #expect(try store.run(io: Store.IO.ask()) === store)
  }

  @Test func createUpdatesByItsPolicy() throws {
    let store = try makeStore()
    try store.run(io: Store.IO.create(Dog.self, value: ["name": "Rex", "age": 2]))
    #expect(throws: StoreError.self) { try store.run(io: Store.IO.create(Dog.self, value: ["name": "Rex", "age": 3])) }
    try store.run(io: Store.IO.create(Dog.self, value: ["name": "Rex", "age": 3], update: .modified))
    #expect(store.objects(Dog.self).map(\.age) == [3])
    try store.run(io: Store.IO.dynamicCreate("Dog", ["name": .string("Fido")]))
    #expect(store.objects(Dog.self).count == 2)
  }

  @Test func deletingTakesObjectsResultsOrEverything() throws {
    let store = try makeStore()
    let dogs = try store.run(io: Store.IO.traverse(["a", "b", "c", "d"]) { name in Store.IO.add(Dog(name: name)) })
    try store.run(io: Store.IO.delete(dogs[0]))
    try store.run(io: Store.IO.objects(Dog.self).map { $0.where { $0.name == "b" } }.flatMap(Store.IO.delete))
    #expect(store.objects(Dog.self).map(\.name) == ["c", "d"])
    try store.run(io: Store.IO.delete([dogs[0], dogs[2]]))
    #expect(store.objects(Dog.self).map(\.name) == ["d"])
    try store.run(io: Store.IO.deleteAll())
    #expect(store.objects(Dog.self).isEmpty)
  }

  @Test func modifyChangesInPlaceAndGivesTheObjectOn() throws {
    let store = try makeStore()
    try store.run(io: Store.IO.add(Dog(name: "Rex")))
    let age = try store.run(io: Store.IO.object(ofType: Dog.self, forPrimaryKey: "Rex").modify { $0?.age += 4 }.map { $0?.age })
    #expect(age == 4 && store.objects(Dog.self).first?.age == 4)
  }
}
