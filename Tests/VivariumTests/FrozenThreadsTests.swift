import Foundation
import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Frozen objects that several threads read at once.
@Suite struct FrozenThreadsTests {
  private func makeStore(_ meeting: Meeting) throws -> Store {
    var configuration = StoreConfiguration.reference(nil, models: [Message.self])
    configuration.manualDelivery = true
    configuration.backend = ForwardingBackend(configuration.backend) { base in
      ForwardingEngine(base, read: { MeetingRead(base: $0, meeting) })
    }
    return try Store(configuration)
  }

  private func frozenMessage(in store: Store) throws -> Frozen<Message> {
    let message = Message(number: 7, shout: "a")
    try store.write { try store.add(message) }
    return try message.freeze()
  }

  @Test func threadsReadAVersionSideBySideWhileItIsTheNewest() throws {
    let meeting = Meeting(of: 4)
    let store = try makeStore(meeting)
    let frozen = try frozenMessage(in: store)
    meeting.begin()
    let threads = (0..<4).map { _ in onThread { #expect(frozen.number == 7) } }
    for thread in threads { #expect(thread.wait()) }
    // Each was inside the engine while all others were.
    #expect(meeting.largest == 4)
    #expect(frozen.number == 7 && frozen.code == "A")
  }

  @Test func threadsOfAnOldVersionTakeTurns() throws {
    let meeting = Meeting(of: 1)
    let store = try makeStore(meeting)
    let frozen = try frozenMessage(in: store)
    try store.write { store.object(Message.self, forPrimaryKey: 7)?.text = "new" }
    meeting.begin()
    let threads = (0..<4).map { _ in
      onThread { for _ in 0..<200 { #expect(frozen.number == 7 && frozen.text == "…") } }
    }
    for thread in threads { #expect(thread.wait()) }
    #expect(meeting.largest == 1)
  }

  @Test(.serialized, arguments: 0..<20) func threadsReadWhatWasFrozenWhileOthersCommit(_ round: Int) throws {
    let store = try VivariumTests.makeStore()
    let message = Message(number: round, shout: "a")
    try store.write { try store.add(message) }
    for number in 0..<10 {
      try store.write { message.text = "\(number)" }
      let frozen = try message.freeze()
      let threads = (0..<4).map { _ in
        onThread { for _ in 0..<20 { #expect(frozen.text == "\(number)" && frozen.number == round) } }
      }
      try store.write { message.text = "later" }
      for thread in threads { #expect(thread.wait()) }
      #expect(frozen.text == "\(number)")
    }
  }
}

/// Lets readers wait in the engine until a number of them are there at once.
private final class Meeting: Sendable {
  private struct State {
    var hasBegun = false
    var inside = 0
    var largest = 0
  }

  private let state = Mutex(State())
  private let number: Int
  private let changed = NSCondition()

  init(of number: Int) { self.number = number }

  func begin() { state.withLock { $0.hasBegun = true } }
  var largest: Int { state.withLock(\.largest) }

  func attend() {
    changed.lock()
    defer { changed.unlock() }
    let isOn = state.withLock { state in
      guard state.hasBegun else { return false }
      state.inside += 1
      state.largest = max(state.largest, state.inside)
      return true
    }
    guard isOn else { return }
    changed.broadcast()
    let bound = Date(timeIntervalSinceNow: 120)
    while largest < number, changed.wait(until: bound) {}
  }

  func leave() {
    state.withLock { if $0.hasBegun { $0.inside -= 1 } }
  }
}

private final class MeetingRead: ForwardingRead {
  let base: any ReadTransaction
  private let meeting: Meeting

  init(base: any ReadTransaction, _ meeting: Meeting) { (self.base, self.meeting) = (base, meeting) }

  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    meeting.attend()
    defer { meeting.leave() }
    return try base.word(column, key)
  }
}
