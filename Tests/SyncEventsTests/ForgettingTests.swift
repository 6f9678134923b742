import ServerStoreForwarding
import SyncServer
import Testing

struct ForgettingTests {
  @Test func aStoreThatFailsOrIsGoneDoesNotKeepTheOthersFromForgetting() async throws {
    let calls = Calls()
    let stores = FaultyStores(MemoryServerStore(), nil, willPurge: { (path: StorePath) throws(ServerStoreError) in
      calls.note(path.text)
      if path.text == "/shared/a" { throw ServerStoreError(.unavailable, "It is damaged.") }
      if path.text == "/shared/b" { throw ServerStoreError(.unknownStore, "It was removed.") }
    })
    let texts = ["/shared/a", "/shared/b", "/shared/c"]
    for text in texts { try await stores.makeStore(try #require(StorePath(text))) }
    let failures = try await stores.forget(expiry: 0)
    #expect(calls.all == texts)
    #expect(failures.map { "\($0.key) \($0.value.code)" } == ["/shared/a unavailable"])
  }
}
