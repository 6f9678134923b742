import SyncClient
import SyncModel
import SyncProtocol
import Testing

/// What a session says of its types.
@Suite struct SessionDeclarationTests {
  private typealias Harness = SessionHarness

  @Test func `the types of an upload are declared ahead of it, once a connection, to a server that takes declarations`() {
    func note(_ clientSeq: UInt64, _ className: String) -> OutboxEntry {
      let object = ObjectIdentity(Name(className), .int(1))
      let first = Stamp(time: clientSeq << 16, replica: ReplicaID(3))
      let operations = [Operation(object, epoch: .zero, .create)]
      return .write([Changeset(clientSeq: clientSeq, baseSeq: .zero, first: first, operations: operations)], bytes: 100)
    }
    func declared(_ harness: SessionHarness) -> [SyncSchema] {
      harness.sent.compactMap { if case .schema(1, let bytes) = $0 { try? SyncSchema(decoding: bytes) } else { nil } }
    }
    var standing = Harness.standing(clientSeq: 9)
    standing.schema = SyncSchema(["Note": ["at": "embedded Place"], "Place": ["city": "string"], "Tag": ["name": "string"]])
    for takesDeclarations in [true, false] {
      var harness = Harness()
      func goLive() {
        harness.handle(.standing(standing))
        harness.handle(.connected)
        let features: SyncFeatures = takesDeclarations ? [.declarations] : []
        harness.receive(
          .welcome(Welcome(version: 1, features: features, serverTime: 1_000_000, pingSeconds: 30, messageBytes: 1 << 20)))
        harness.receive(.bound(session: 1, Harness.bound()))
      }
      harness.handle(.start)
      harness.handle(.token("t"))
      goLive()
      let note1 = SyncSchema(["Note": ["at": "embedded Place"], "Place": ["city": "string"]])
      harness.handle(.outbox([note(1, "Note"), note(2, "Note")], reading: harness.reading?.number ?? 0))
      #expect(declared(harness) == (takesDeclarations ? [note1] : []))
      if takesDeclarations, case .schema = harness.sent.first {} else { #expect(!takesDeclarations) }
      harness.receive(.schema(session: 1, note1.encoded))
      harness.handle(.outbox([note(3, "Note"), note(4, "Tag"), note(5, "Unknown")], reading: harness.session.reading))
      #expect(declared(harness) == (takesDeclarations ? [SyncSchema(["Tag": ["name": "string"]])] : []))
      // Another connection may be to a server that has been restored.
      harness.handle(.disconnected)
      harness.now += 2_000
      harness.handle(.foreground)
      goLive()
      harness.handle(.outbox([note(1, "Note")], reading: harness.session.reading))
      #expect(declared(harness) == (takesDeclarations ? [note1] : []))
    }
  }
}
