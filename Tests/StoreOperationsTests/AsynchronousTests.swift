import Dispatch
import StoreOperations
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct AsynchronousTests {
  @Test func anOperationRunsOnAnotherThreadAndIsSeenHere() async throws {
    let store = try makeStore()
    let count = try await store.runAsync(io: Store.IO.add(Dog(name: "Rex")).flatMap { _ in StoreRO { $0.objects(Dog.self).count } })
    #expect(count == 1 && store.objects(Dog.self).count == 1)
    #expect(try await store.runAsync(io: StoreRO { $0.objects(Dog.self).count }) == 1)
  }

  @Test func anObjectComesBackAsTheOneOfThisStore() async throws {
    let store = try makeStore()
    let rex = try await store.runAsync(io: Store.IO.add(Dog(name: "Rex", age: 3)))
    #expect(rex.store === store && rex.age == 3)
  }

  @Test func objectArgumentsTravelAsReferences() async throws {
    let store = try makeStore()
    let (rex, fido) = (Dog(name: "Rex"), Dog(name: "Fido"))
    try store.write { try store.add([rex, fido]) }
    // Made here from objects of this thread, run on another.
    let io = Store.IO.modify(rex) { $0.age = 5 }.flatMap { _ in StoreRW { _ in } }
    try await store.runAsync(io: io)
    #expect(rex.age == 5)
    try await store.runAsync(io: Store.IO.delete(fido))
    #expect(fido.isInvalidated && store.objects(Dog.self).count == 1)
    await #expect(throws: StoreError.self) { try await store.runAsync(io: Store.IO.delete(fido)) }
    try await store.runAsync(io: Store.IO.objects(Dog.self).flatMap(Store.IO.delete))
    #expect(store.objects(Dog.self).isEmpty)
  }

  @Test func aCopyOfAnInstanceIsAddedOnAnotherThread() async throws {
    let store = try makeStore()
    let rex = Dog(name: "Rex", age: 3)
    let io = Store.IO.add(copyOf: rex)
    let added = try await store.runAsync(io: io)
    #expect(added.name == "Rex" && added.age == 3 && added.isManaged && !rex.isManaged)
    let copy = try store.run(io: Store.IO.unmanaged(added))
    #expect(copy.name == "Rex" && copy.age == 3 && !copy.isManaged)
  }

  @Test func aCancelledRunStopsAtItsNextStepAndLeavesNothing() async throws {
    let store = try makeStore()
    let configuration = store.configuration
    let started = AsyncSignal()
    let cancelled = Signal()
    let reached = Mutex(false)
    let io = Store.IO.add(Dog(name: "Rex")).flatMap { _ in
      started.fire()
      _ = cancelled.wait()
      return StoreRW { _ in reached.withLock { $0 = true } }.recover { _ in StoreRW { _ in } }
    }
    let task = Task { try await Store(configuration, isolation: nil).runAsync(io: io) }
    await started.wait()
    task.cancel()
    cancelled.fire()
    do {
      try await task.value
      Issue.record("It was not cancelled.")
    } catch let error as StoreError {
      #expect(error.code == .cancelled)
    }
    store.refresh()
    #expect(store.objects(Dog.self).isEmpty && !reached.withLock { $0 })
  }

  @MainActor @Test func observersThatAreLeftOutAreNotToldOfARunElsewhere() async throws {
    let store = try Store(makeConfiguration())
    var told: [Int] = []
    let token = store.objects(Dog.self).observe { change in told.append(change.collection?.count ?? -1) }
    store.refresh()
    try await store.runAsync(io: Store.IO.add(Dog(name: "Taro")).map { _ in }, withoutNotifying: [token])
    store.refresh()
    #expect(told == [0] && store.objects(Dog.self).count == 1)
    try await store.runAsync(io: Store.IO.add(Dog(name: "Jiro")).map { _ in })
    store.refresh()
    #expect(told == [0, 2])
    token.stop()
  }

  @MainActor @Test func whatARunElsewhereBringsIsToldOnTheStoresContext() async throws {
    let main = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: main, value: true)
    let store = try Store(makeConfiguration())
    var told: [Bool] = []
    let token = store.objects(Dog.self).observe { _ in told.append(DispatchQueue.getSpecific(key: main) == true) }
    store.refresh()
    for name in ["Taro", "Jiro"] { try await store.runAsync(io: Store.IO.add(Dog(name: name)).map { _ in }) }
    #expect(told == [true, true, true])
    token.stop()
  }

  @Test func aCompletionIsCalledOnce() async throws {
    let store = try makeStore()
    let count = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      store.runAsync(io: Store.IO.add(Dog(name: "Rex")).map { _ in 1 }) { continuation.resume(with: $0) }
    }
    store.refresh()
    #expect(count == 1 && store.objects(Dog.self).count == 1)
  }
}
