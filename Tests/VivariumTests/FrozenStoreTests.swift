import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A store as of one version.
@Suite struct FrozenStoreTests {
  private func withMessage() throws -> Store {
    let store = try makeStore()
    try store.write { try store.add(Message(number: 1, shout: "a")) }
    return store
  }

  @Test func everyThreadReadsItsVersionWhateverIsWrittenAfterwards() throws {
    let store = try withMessage()
    let frozen = try store.file.freeze()
    let version = store.version
    try store.write {
      store.object(Message.self, forPrimaryKey: 1)?.text = "later"
      try store.add(Message(number: 2, shout: "b"))
    }
    #expect(frozen.version == version && store.version > version)
    let threads = (0..<4).map { _ in
      onThread {
        let texts = try? frozen.read { $0.objects(Message.self).map { "\($0.number) \($0.text)" } }
        #expect(texts == ["1 …"])
      }
    }
    for thread in threads { #expect(thread.wait()) }
    let found = try frozen.read { store in store.objects(Message.self).where { $0.text == "later" }.count }
    #expect(found == 0)
    #expect(store.objects(Message.self).where { $0.text == "later" }.count == 1)
  }

  @Test func itNeitherMovesOnNorIsWritten() throws {
    let store = try withMessage()
    let frozen = try store.file.freeze()
    try store.write { try store.add(Message(number: 2, shout: "b")) }
    let count = try frozen.read { frozen in
      frozen.refresh()
      let error = #expect(throws: StoreError.self) { try frozen.write { try frozen.add(Message(number: 3, shout: "c")) } }
      #expect(error?.code == .readOnlyOperation)
      return frozen.objects(Message.self).count
    }
    #expect(count == 1)
    #expect(store.objects(Message.self).count == 2)
  }

  @Test func whatWasFrozenInItOutlivesIt() throws {
    let store = try withMessage()
    let message = try store.file.freeze().read { try $0.object(Message.self, forPrimaryKey: 1)?.freeze() }
    try store.write { store.object(Message.self, forPrimaryKey: 1)?.text = "later" }
    #expect(message?.text == "…")
    #expect(message?.thaw(in: store)?.text == "later")
  }
}
