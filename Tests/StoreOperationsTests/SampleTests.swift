import StoreOperations
import Testing
import Vivarium

/// The samples of a library of this kind: what was to be possible there is here.
@Suite struct SampleTests {
  private func addDog(_ name: String) -> StoreRW<Void> { Store.IO.add(Dog(name: name)).map { _ in } }
  private func find(by name: String) -> StoreRO<Dog> {
    StoreRO<Dog?>.object(forPrimaryKey: name).map { dog in
      guard let dog else { throw Refused(number: 404) }
      return dog
    }
  }

  @Test func whatOnceWasTwoTransactionsIsOne() throws {
    let store = try makeStore()
    let before = commitCount(store)
    try store.run(io: addDog("Taro"))
    try store.run(io: addDog("Jiro"))
    #expect(commitCount(store) == before + 2)
    try store.run(io: addDog("Saburo").flatMap { addDog("Shiro") })
    #expect(commitCount(store) == before + 3 && store.objects(Dog.self).count == 4)
  }

  @Test func findingReadsAndThrowsOneOfTwoKindsOfErrors() throws {
    let store = try makeStore()
    #expect((try? store.run(io: find(by: "Rex"))) == nil)
    #expect(throws: Refused(number: 404)) { try store.run(io: find(by: "Rex")) }
    #expect(throws: StoreError.self) { try store.run(io: Store.IO.dynamicObjects("Unicorn")) }
    try store.run(io: addDog("Rex"))
    #expect(try store.run(io: find(by: "Rex")).name == "Rex")
  }

  @Test func theFourRulesOfComposing() throws {
    let read = find(by: "Rex")
    let write = addDog("Taro")
    let rules: (StoreRO<Dog>, StoreRW<Void>, StoreRW<Dog>, StoreRW<Void>) = (
      read.flatMap { _ in read }, read.flatMap { _ in write }, write.flatMap { _ in read }, write.flatMap { _ in write }
    )
    #expect(rules.0.isReadOnly && rules.1.isReadWrite && rules.2.isReadWrite && rules.3.isReadWrite)
  }

  @Test func objectsMayBeNamedInAnOperationThatRunsAnywhere() async throws {
    let store = try makeStore()
    let rex = try store.run(io: Store.IO.add(Dog(name: "Rex")))
    // There: only in the thread that made it. Here: anywhere.
    try await store.runAsync(io: Store.IO.modify(rex) { $0.age = 3 }.map { _ in })
    #expect(rex.age == 3)
    try await store.runAsync(io: Store.IO.objects(Dog.self).flatMap(Store.IO.delete))
    #expect(store.objects(Dog.self).isEmpty)
  }
}
