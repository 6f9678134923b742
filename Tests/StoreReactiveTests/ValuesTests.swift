import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

/// Every stream as an asynchronous sequence, in the context of its store.
@MainActor @Suite(.timeLimit(.minutes(15))) struct ValuesTests {
  private func makeStore(_ numbers: Int...) throws -> Store {
    let store = try Store(makeConfiguration())
    try store.write { for number in numbers { try store.add(Lap(number: number)) } }
    return store
  }

  private func next<Output>(_ values: LiveValues<Output>.Iterator) async throws -> Output? {
    try await values.next(isolation: #isolation)
  }

  @Test func changesComeAsTheyAreAskedForAndAreNetDifferences() async throws {
    let store = try makeStore(1)
    let values = Live.arrayWithChangeset(from: store.objects(Lap.self).sorted(by: \.number)).values.makeAsyncIterator()
    let first = try #require(try await next(values))
    #expect(first.0.map(\.number) == [1] && first.1 == nil)
    // Nobody asks meanwhile: a hundred commits are one value.
    for number in 2...100 { try store.write { try store.add(Lap(number: number)) } }
    try store.write { try store.delete(store.objects(Lap.self).where { $0.number < 99 }) }
    store.refresh()
    let second = try #require(try await next(values))
    #expect(second.0.map(\.number) == [99, 100] && second.1 == LiveChanges(deleted: [0], inserted: [0, 1]))
    // What another context writes wakes whoever waits.
    let configuration = store.configuration
    let writing = Task.detached { try await configuration.write { store in try store.add(Lap(number: 101)) } }
    let third = try #require(try await next(values))
    #expect(third.1 == LiveChanges(inserted: [2]))
    try await writing.value
  }

  @Test func everyStreamIsASequence() async throws {
    let store = try makeStore(1)
    let lap = try #require(store.objects(Lap.self).first)
    let collections = Live.collection(from: store.objects(Lap.self)).values.makeAsyncIterator()
    let arrays = Live.array(from: store.objects(Lap.self)).values.makeAsyncIterator()
    let objects = Live.object(from: lap).values.makeAsyncIterator()
    let properties = Live.propertyChanges(of: lap).values.makeAsyncIterator()
    let stores = Live.store(store).values.makeAsyncIterator()
    let pairs = Live.combineLatest(lap, store.objects(Timer.self)).values.makeAsyncIterator()
    #expect(try await next(collections)?.count == 1)
    #expect(try await next(arrays)?.count == 1)
    #expect(try await next(objects)?.time == 0)
    #expect(try await next(pairs)?.1.count == 0)
    let write = Task { @MainActor in
      for time in [5, 6] {
        try store.write {
          lap.time = time
          try store.add(Lap(number: 100 + time))
          try store.add(Timer(id: time))
        }
      }
    }
    let property = try #require(try await next(properties))
    #expect(property.name == "time" && property.oldValue == .int(0))
    try await write.value
    // Begins to observe before the write: that has its turn when this one waits.
    let another = Task { @MainActor in try store.write { lap.time = 7 } }
    #expect(try await next(stores)?.1 == .didChange)
    try await another.value
    store.refresh()
    #expect(try await next(objects)?.time == 7)
    #expect(try await next(collections)?.count == 3)
    #expect(try await next(arrays)?.count == 3)
    #expect(try await next(pairs)?.1.count == 2)
  }

  @Test func deletionFailsTheSequenceOfAnObjectOnce() async throws {
    let store = try makeStore(1)
    let lap = try #require(store.objects(Lap.self).first)
    let values = Live.object(from: lap, emitInitialValue: false).values.makeAsyncIterator()
    let delete = Task { @MainActor in try store.write { try store.delete(lap) } }
    do {
      _ = try await next(values)
      Issue.record("It was deleted.")
    } catch let error as StoreError {
      #expect(error.code == .objectDeleted)
    }
    #expect(try await next(values) == nil)
    try await delete.value
  }

  @Test func aSequenceEndsWithItsTask() async throws {
    let store = try makeStore()
    let waits = AsyncSignal()
    let task = Task { @MainActor in
      var count = 0
      for try await _ in Live.collection(from: store.objects(Lap.self)).values {
        count += 1
        waits.fire()
      }
      return count
    }
    await waits.wait()
    task.cancel()
    #expect(try await task.value == 1)
  }

  @Test func withoutAContextWaitingIsAnError() async {
    let code = await Task.detached { () async -> StoreError.Code? in
      do {
        let store = try Store(makeConfiguration(), isolation: nil)
        for try await _ in Live.collection(from: store.objects(Lap.self)).values {}
        return nil
      } catch { return (error as? StoreError)?.code }
    }.value
    #expect(code == .wrongContext)
  }
}
