import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Model final class PlainDrawer {
  var numbers: LiveList<Int>
  var members: LiveSet<Int>
}

/// Searches for an element of a stored list.
@Suite struct SearchingTests {
  @Test func aSearchReadsManyElementsATime() throws {
    let calls = CallCount()
    var configuration = StoreConfiguration.reference(nil, models: [PlainDrawer.self])
    configuration.backend = ForwardingBackend(configuration.backend) { base in
      ForwardingEngine(base, read: { CountingRead(base: $0, calls) })
    }
    let store = try Store(configuration)
    let drawer = PlainDrawer()
    drawer.members = LiveSet(0..<10_000)
    drawer.numbers = LiveList((0..<10_000).map { $0 % 9_000 })
    try store.write { try store.add(drawer) }
    func expect(_ place: Int?, in callsMax: Int, _ search: (LiveList<Int>) -> Int?) {
      let before = calls.number.load(ordering: .relaxed)
      #expect(search(drawer.numbers) == place)
      #expect(calls.number.load(ordering: .relaxed) - before <= callsMax)
    }
    expect(8_999, in: 100) { $0.firstIndex(of: 8_999) }
    expect(nil, in: 100) { $0.firstIndex(of: -1) }
    expect(5_001, in: 100) { $0.firstIndex { $0 > 5_000 } }
    expect(9_500, in: 100) { $0.lastIndex(of: 500) }
    expect(8_999, in: 100) { $0.lastIndex { $0 > 8_000 } }
    expect(7, in: 2) { $0.firstIndex(of: 7) }
    let places = drawer.members.toArray()
    func expectMember(_ place: Int?, _ search: (LiveSet<Int>) -> Int?) {
      let before = calls.number.load(ordering: .relaxed)
      #expect(search(drawer.members) == place)
      #expect(calls.number.load(ordering: .relaxed) - before <= 100)
    }
    expectMember(9_000) { $0.firstIndex(of: places[9_000]) }
    expectMember(9_000) { $0.lastIndex(of: places[9_000]) }
    expectMember(nil) { $0.firstIndex(of: -1) }
    expectMember(9_999) { $0.lastIndex { $0 >= 0 } }
    let memory: LiveList = [3, 1, 3]
    #expect(memory.firstIndex(of: 3) == 0 && memory.lastIndex(of: 3) == 2 && memory.firstIndex(of: 4) == nil)
  }
}

private final class CallCount: Sendable {
  let number = Atomic(0)
}

/// Counts the reads of list elements.
private final class CountingRead: ForwardingRead {
  let base: any ReadTransaction
  private let calls: CallCount

  init(base: any ReadTransaction, _ calls: CallCount) { (self.base, self.calls) = (base, calls) }

  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    calls.number.add(1, ordering: .relaxed)
    try base.elements(column, owner, range, body)
  }
}
