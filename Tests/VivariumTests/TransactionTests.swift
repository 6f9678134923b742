import Dispatch
import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

private struct Stop: Error, Equatable { var number: Int }

@Suite struct TransactionTests {
  @Test func aWriteReturnsItsValue() throws {
    let store = try makeStore()
    let count = try store.write {
      try store.add(Dog(name: "Rex"))
      return store.objects(Dog.self).count
    }
    #expect(count == 1 && !store.isInWriteTransaction)
  }

  @Test func aThrowUndoesEverythingAndIsTheSameError() throws {
    let store = try makeStore()
    let kept = Dog(name: "Rex", age: 1)
    try store.write { try store.add(kept) }
    let lost = Dog(name: "Fido")
    #expect(throws: Stop(number: 7)) {
      try store.write {
        kept.age = 2
        try store.add(lost)
        #expect(store.objects(Dog.self).count == 2 && kept.age == 2)
        throw Stop(number: 7)
      }
    }
    #expect(kept.age == 1 && lost.isInvalidated && store.objects(Dog.self).map(\.name) == ["Rex"])
  }

  @Test func writesDoNotNest() throws {
    let store = try makeStore()
    try store.write {
      do throws(StoreError) {
        try store.beginWrite()
      } catch {
        #expect(error.code == .alreadyInWrite)
      }
      try store.add(Dog())
    }
    #expect(store.objects(Dog.self).count == 1)
  }

  @Test func aBodyMayCancelOrCommitByItself() throws {
    let store = try makeStore()
    try store.write {
      try store.add(Dog())
      store.cancelWrite()
    }
    #expect(store.objects(Dog.self).isEmpty)
    try store.write {
      try store.add(Dog())
      try store.commitWrite()
    }
    #expect(store.objects(Dog.self).count == 1)
    #expect(throws: StoreError.self) { try store.commitWrite() }
    #expect(throws: StoreError.self) { try store.add(Dog()) }
  }

  @Test func aStoreShowsOneVersionUntilItRefreshes() throws {
    let configuration = makeConfiguration()
    let (one, two) = (try Store(configuration), try Store(configuration))
    let results = two.objects(Dog.self).where { $0.age > 0 }
    #expect(results.isEmpty)
    try one.write { try one.add(Dog(name: "Rex", age: 3)) }
    #expect(results.isEmpty && two.objects(Dog.self).count == 0)
    #expect(two.refresh())
    #expect(results.map(\.name) == ["Rex"])
    #expect(!two.refresh())
    try two.write { results.first?.age = 4 }
    #expect(one.objects(Dog.self).first?.age == 3)
    try one.beginWrite()
    #expect(one.objects(Dog.self).first?.age == 4)
    one.cancelWrite()
  }

  @Test func anAsynchronousWriteIsSeenWhenItReturns() async throws {
    let store = try makeStore()
    let count = try await store.write { store in
      try store.add(Dog(name: "Rex"))
      return store.objects(Dog.self).count
    }
    #expect(count == 1 && store.objects(Dog.self).count == 1)
    await #expect(throws: Stop(number: 1)) {
      try await store.write { store in
        try store.add(Dog())
        throw Stop(number: 1)
      }
    }
    #expect(store.objects(Dog.self).count == 1)
  }

  @Test func aQueueStoreRefusesOtherQueues() throws {
    let queue = DispatchQueue(label: "test.store")
    let code: StoreError.Code? = try queue.sync {
      let store = try Store(makeConfiguration(), queue: queue)
      try store.write { try store.add(Dog()) }
      return DispatchQueue(label: "test.other").sync {
        do throws(StoreError) {
          try store.beginWrite()
          return nil
        } catch {
          return error.code
        }
      }
    }
    #expect(code == .wrongContext)
  }

  @Test func aForeignSchemaIsRefusedWithEveryFault() throws {
    let name = "shared-\(UUID())"
    let kept = try makeStore(name)
    let configuration = StoreConfiguration.reference(name, models: [Changed.self])
    do {
      _ = try Store(configuration)
      Issue.record("opened")
    } catch {
      #expect(error.code == .schemaMismatch)
      #expect(error.message.contains("Dog.name") && error.message.contains("Dog.age"))
    }
    #expect(kept.objects(Dog.self).isEmpty)
  }
}

/// A `Dog` of another program: same name, other types.
enum Changed: SchemaDescribing {
  static var _$schema: ObjectSchema {
    ObjectSchema(
      name: "Dog",
      properties: [
        PropertySchema(name: "name", kind: .scalar(.int64)), PropertySchema(name: "age", kind: .scalar(.string)),
      ])
  }
}
