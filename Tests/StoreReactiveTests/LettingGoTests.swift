import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

/// Streams whose blocks capture what leads back to their store, and that are cancelled: nothing of it stays.
@Suite struct LettingGoTests {
  /// Begins a stream whose sink captures `kept` of it, cancels it, and says whether the store is gone.
  private func isGone(_ begin: (Store, Preferences) -> any Cancelling) throws -> Bool {
    weak var known: Store?
    do {
      let store = try makeStore()
      let preferences = Preferences(id: 1)
      try store.write { try store.add(preferences) }
      let stream = begin(store, preferences)
      store.refresh()
      try store.write { try store.add(Todo(title: "a")) }
      store.refresh()
      stream.cancel()
      known = store
    }
    return known == nil
  }

  @Test func aStoreGoesWithItsLastStream() throws {
    #expect(try isGone { store, _ in
      let todos = store.objects(Todo.self)
      return Live.collection(from: todos).sink(receiveCompletion: { _ in }) { _ in _ = todos.count }
    })
    #expect(try isGone { store, _ in
      let todos = store.objects(Todo.self)
      return Live.arrayWithChangeset(from: todos, synchronousStart: false)
        .sink(receiveCompletion: { _ in }) { _ in _ = todos.count }
    })
    #expect(try isGone { store, preferences in
      let todos = store.objects(Todo.self)
      return Live.combineLatest(preferences, todos).sink(receiveCompletion: { _ in }) { _ in _ = (todos.count, preferences) }
    })
    #expect(try isGone { store, _ in
      let todos = store.objects(Todo.self)
      return Live.combineLatest(todos, todos).sink(receiveCompletion: { _ in }) { _ in _ = todos.count }
    })
  }
}

/// What `sink` gives, whichever framework it is of.
private protocol Cancelling { func cancel() }
extension AnyCancellable: Cancelling {}
