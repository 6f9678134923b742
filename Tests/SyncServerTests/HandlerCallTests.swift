import StoreValues
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import VivariumTestSupport

/// The messages between a program with handlers of events and a server, to the byte.
@Suite struct HandlerCallTests {
  private static let path = StorePath("/a/b")!  // it is a path
  private static let lease = HandlerLease(handler: "h", cursor: Seq(2), fence: 3, history: [9, 9], isNew: true)
  private static let changeset = Changeset(
    clientSeq: 1, baseSeq: .zero, isContinued: false, first: Stamp(milliseconds: 5, counter: 0, replica: ReplicaID(7)),
    operations: [Operation(ObjectIdentity("Thing", .int(1)), epoch: .zero, .create)])

  static let calls: [HandlerCall] = [
    .makeHandlerNames, .stores, .changes(path, replica: ReplicaID(7), after: Seq(300), limitBytes: 1 << 20),
    .objects(path, history: nil, changedAfter: .zero, behind: nil, limitBytes: 5),
    .objects(path, history: [1, 2], changedAfter: Seq(1), behind: ObjectIdentity("Thing", .string("x")), limitBytes: 5),
    .claim(path, handler: "h", history: nil, fromStart: true, milliseconds: 30_000),
    .claim(path, handler: "h", history: [1], fromStart: false, milliseconds: -1), .renew(path, lease, milliseconds: 0),
    .past(path, at: Seq(4)), .handlers(path), .removeHandler(path, name: "h"), .advance(path, lease, to: Seq(9), writing: []),
    .advance(path, lease, to: Seq(9), writing: [changeset, changeset]),
    .heads([]), .heads([path, path]), .follow([path]), .unfollow([]), .unfollow([path, path]),
  ]

  @Test(arguments: calls) func aCallIsWhatItWasAfterItWasSent(_ call: HandlerCall) throws {
    let frame = call.frame(number: 12)
    #expect(frame.session == 12)
    #expect(try HandlerCall(frame) == call)
  }

  @Test func theBytesStayWhatTheyAre() {
    func bytes(_ call: HandlerCall) -> [UInt8] { call.frame(number: 1).body }
    let path: [UInt8] = [4, 0x2F, 0x61, 0x2F, 0x62]
    let lease: [UInt8] = [1, 0x68, 2, 3, 2, 9, 9, 1]
    #expect(HandlerCall.stores.frame(number: 1).type == 0x41)
    #expect(bytes(.makeHandlerNames) == [1])
    #expect(bytes(.stores) == [2])
    #expect(bytes(.changes(Self.path, replica: ReplicaID(7), after: Seq(3), limitBytes: 5)) == [3] + path + [7, 0, 0, 0, 0, 0, 0, 0, 3, 5])
    #expect(bytes(.claim(Self.path, handler: "h", history: [1], fromStart: true, milliseconds: 2)) == [5] + path + [1, 0x68, 1, 1, 1, 4])
    #expect(bytes(.renew(Self.path, Self.lease, milliseconds: -1)) == [6] + path + lease + [1])
    #expect(bytes(.past(Self.path, at: Seq(4))) == [7] + path + [4])
    #expect(bytes(.handlers(Self.path)) == [8] + path)
    #expect(bytes(.removeHandler(Self.path, name: "h")) == [9] + path + [1, 0x68])
    #expect(bytes(.advance(Self.path, Self.lease, to: Seq(9), writing: [])) == [10] + path + lease + [9, 0])
    #expect(bytes(.heads([Self.path])) == [11, 1] + path)
    #expect(bytes(.follow([Self.path])) == [12, 1] + path)
    #expect(bytes(.unfollow([Self.path])) == [13, 1] + path)
    let begin = HandlerMessage.hello(Hello(versions: [1], features: .compression, token: "t", device: "n"))
    #expect(begin.type == 0x40 && begin.body == [1, 1, 1, 1, 0x74, 1, 0x6E])
    let failed = HandlerAnswer.failed(ServerStoreError(.leaseLost, "m")).frames(number: 5)[0]
    #expect(failed.type == 0xA1 && failed.session == 5 && failed.body == [1, 9] + Array("leaseLost".utf8) + [1, 0x6D])
    #expect(HandlerAnswer.done([7]).frames(number: 5).map(\.body) == [[0, 7]])
  }

  @Test func whateverTheBytesAreTheyAreACallOrAnError() {
    var random = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      var frame = Self.calls[random.below(Self.calls.count)].frame(number: 1)
      for _ in 0...random.below(3) where !frame.body.isEmpty {
        switch random.below(3) {
        case 0: frame.body[random.below(frame.body.count)] = UInt8(truncatingIfNeeded: random.next())
        case 1: frame.body.removeLast(random.below(frame.body.count))
        default: frame.body.insert(UInt8(truncatingIfNeeded: random.next()), at: random.below(frame.body.count))
        }
      }
      guard let call = try? HandlerCall(frame) else { continue }
      #expect((try? HandlerCall(call.frame(number: 1))) == call)
    }
  }

  @Test func anAnswerOfALaterServerIsAnErrorToo() throws {
    var body = ByteWriter()
    body.put(byte: 1)
    body.put("somethingNew")
    body.put("It is new.")
    guard case .failed(let error) = try HandlerAnswer(SyncFrame(type: HandlerMessage.answer, body: body.bytes)) else {
      Issue.record("It was no error.")
      return
    }
    #expect(error == ServerStoreError(.unavailable, "It is new."))
  }
}
