import StorageInterface
import SyncClient
import SyncModel
import SyncServer
import Testing
import Vivarium

/// What a session reads from its file and writes to it.
@MainActor @Suite struct SessionFileTests {
  private let host = SyncHost(stores: MemoryServerStore(), access: OpenAccess())

  @Test func `a clock that followed a server to the end of time follows it back`() async throws {
    let store = try Device(host, "ann").store
    let file = SessionFile(store.file)
    _ = try await file.standing()
    for offset in [Int64.max - 5, -1_000_000_000_000, .min, .max, 0] {
      try await file.setClock(offset: offset)
      let standing = try store.file.read { (snapshot: any StorageReading) -> ReplicaStanding? in
        guard let sides = snapshot.powers.sides else { return nil }
        return try ReplicaStanding.read(sides)
      }
      #expect(standing?.clock.offset == offset)
    }
  }
}
