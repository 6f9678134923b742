import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

/// A write that cannot begin says where the one began that is in its way.
@Suite struct AlreadyInWriteTests {
  /// The line of a file of tests, as errors write it.
  private static func place(_ line: UInt) -> String { "\(#fileID):\(line)" }

  private func refusal(_ body: () throws -> Void) -> StoreError? { #expect(throws: StoreError.self) { try body() } }

  @Test func theSameStoresSaysWhereItsOwnBegan() throws {
    let store = try makeStore()
    try store.beginWrite(); let line = #line as UInt
    for error in [refusal { try store.beginWrite() }, refusal { try store.write {} }, refusal { try store.compact() }] {
      #expect(error?.code == .alreadyInWrite && error?.details["begun"] == Self.place(line))
      #expect(error?.message.contains(Self.place(line)) == true)
    }
    store.cancelWrite()
    try store.write {
      let inner = #line as UInt - 1
      #expect(refusal { try store.write {} }?.details["begun"] == Self.place(inner))
    }
  }

  @Test func anotherStoreOfTheFileSaysItToo() throws {
    let configuration = makeConfiguration("already \(UInt64.random(in: 0...UInt64.max))")
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write {
      let line = #line as UInt - 1
      let error = refusal { try other.write {} }
      #expect(error?.code == .alreadyInWrite && error?.details["begun"] == Self.place(line))
    }
    // Open, and nothing of it runs: who waited here would wait for ever.
    try store.beginWrite(); let line = #line as UInt
    #expect(refusal { try other.beginWrite() }?.details["begun"] == Self.place(line))
    store.cancelWrite()
    try other.write {}
  }
}
