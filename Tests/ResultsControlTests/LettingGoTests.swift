import ResultsControl
import Testing
import Vivarium
import VivariumTestSupport

/// A controller that is stopped: it keeps what it was given as long as it is there itself, and its store nothing of it.
@Suite struct LettingGoTests {
  /// Is there as long as what captures it.
  private final class Witness {
    private let gone: Signal
    init(_ gone: Signal) { self.gone = gone }
    deinit { gone.fire() }
  }

  private func controller(_ store: Store, _ witness: Witness) throws -> ResultsController<TaskItem, String> {
    let tasks = store.objects(TaskItem.self)
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: byProject), sectionedBy: .by(\.projectID),
      mapper: { "\($0.name) of \(tasks.count) \(witness)" }, filter: { _ in !tasks.isEmpty })
    controller.onChange { _, _ in _ = (tasks.count, witness) }
    return controller
  }

  @Test func aStoppedControllerGoesWithItsLastOwnerAndTheStoreWithIt() throws {
    weak var known: Store?
    let gone = Signal()
    do {
      let store = try makeStore([(1, 1, "a"), (2, 2, "b")])
      known = store
      let recorder = Recorder<String>()
      let controller = try controller(store, Witness(gone))
      controller.delegate = recorder
      controller.performFetch()
      try store.write { try task(store, 1).name = "c" }
      store.refresh()
      #expect(recorder.take().count == 3)
      controller.stop()
      try store.write { try task(store, 1).name = "d" }
      store.refresh()
      #expect(recorder.take().isEmpty && gone.count == 0)
    }
    #expect(gone.count == 1 && known == nil)
  }

  /// The store is there, and holds nothing of a controller that is gone.
  @Test func aStoreKeepsNothingOfAControllerThatIsGone() throws {
    let store = try makeStore([(1, 1, "a"), (2, 2, "b")])
    let gone = Signal()
    do {
      let controller = try controller(store, Witness(gone))
      controller.performFetch()
      store.refresh()
      controller.stop()
    }
    #expect(gone.count == 1)
  }
}
