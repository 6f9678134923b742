import StoreOperations
import Testing
import Vivarium
import VivariumTestSupport

/// What the page shows, to the letter.
private struct Page {
  func add(dogNamed name: String) -> StoreRW<Dog> { Store.IO.add(Dog(name: name)) }
  func find(_ name: String) -> StoreRO<Dog?> { Store.IO.object(ofType: Dog.self, forPrimaryKey: name) }

  func run(_ store: Store) throws -> Dog? {
    let both = add(dogNamed: "Taro").flatMap { _ in add(dogNamed: "Jiro") }   // StoreRW<Dog>
    try store.run(io: both)                                                    // one transaction
    let taro = try store.run(io: find("Taro"))                                 // no transaction
    return taro
  }
}

/// What doc comments show.
private struct Comments {
  func add(dogNamed name: String) -> StoreRW<Dog> { Store.IO.add(Dog(name: name)) }

  func run(_ store: Store) throws {
    let both = add(dogNamed: "Taro").flatMap { _ in add(dogNamed: "Jiro") }
    try store.run(io: both)          // two dogs, one transaction
  }

  func zip(_ store: Store) throws -> (Int, String) {
    let (dogs, rex) = try store.run(io: Store.IO.zip(Store.IO.objects(Dog.self), Store.IO.add(Dog(name: "Rex"))))
    return (dogs.count, rex.name)
  }
}

@Suite struct GuideTests {
  @Test func whatIsShownIsCode() throws {
    #expect(try ShownSamples.withoutCode(pages: ["Operations.md", "ComingFromRealmIO.md"], modules: ["StoreOperations"]) == [])
  }

  @Test func whatIsShownDoesWhatIsSaid() throws {
    let store = try makeStore()
    let before = commitCount(store)
    #expect(try Page().run(store)?.name == "Taro" && commitCount(store) == before + 1)
    #expect(try Comments().zip(store) == (3, "Rex"))
    let other = try makeStore()
    let start = commitCount(other)
    try Comments().run(other)
    #expect(other.objects(Dog.self).count == 2 && commitCount(other) == start + 1)
  }
}
