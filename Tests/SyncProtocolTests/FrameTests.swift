import SyncProtocol
import Testing
import VivariumTestSupport

@Suite struct FrameTests {
  private func whole(_ parts: [[UInt8]], _ limits: FrameLimits = FrameLimits()) throws -> SyncFrame? {
    var decoder = FrameDecoder(limits)
    var frame: SyncFrame?
    for part in parts {
      #expect(frame == nil)
      frame = try decoder.take(part)
    }
    return frame
  }

  @Test(arguments: [false, true]) func `a message of any length comes back`(compresses: Bool) throws {
    var random = SeededGenerator.forTest()
    let limits = FrameLimits(partBytes: 1_000, messageBytes: 100_000)
    for length in [0, 1, 511, 512, 999, 1_000, 1_001, 2_000, 99_999, 100_000] {
      let dull = [UInt8](repeating: 7, count: length)
      let noise = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      for body in [dull, noise] {
        let frame = SyncFrame(type: 0x91, session: 70_000, body: body)
        let parts = try FrameEncoder(limits, compresses: compresses).parts(of: frame)
        #expect(parts.allSatisfy { $0.count <= 1_000 + 16 })
        #expect(try whole(parts, limits) == frame)
      }
    }
  }

  @Test func `what repeats gets shorter, and what does not is left alone`() throws {
    let text = Array(String(repeating: "the same again, ", count: 4_000).utf8)
    let parts = try FrameEncoder(compresses: true).parts(of: SyncFrame(type: 0x91, session: 1, body: text))
    #expect(parts.joined().count < text.count / 10)
    var random = SeededGenerator.forTest()
    let noise = (0..<4_000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    #expect(try FrameEncoder(compresses: true).parts(of: SyncFrame(type: 0x91, session: 1, body: noise)).joined().count == 4_003)
  }

  @Test func `what many are sent is compressed once`() throws {
    let bodies = CompressedBodies()
    func send(_ text: String, to session: UInt32) throws {
      let body = Array(String(repeating: text, count: 100).utf8)
      let parts = try FrameEncoder(FrameLimits(), compresses: true, sharing: bodies)
        .parts(of: SyncFrame(type: 0x91, session: session, body: body))
      #expect(parts == (try FrameEncoder(compresses: true).parts(of: SyncFrame(type: 0x91, session: session, body: body))))
    }
    for session in UInt32(1)...50 { for text in ["the same again, ", "and the other. "] { try send(text, to: session) } }
    #expect(bodies.madeCount == 2)
    // Not for ever.
    for number in 0..<100 { try send("number \(number) of many", to: 1) }
    try send("the same again, ", to: 1)
    #expect(bodies.madeCount == 103)
  }

  @Test func `a small message that would become a huge one is refused`() throws {
    // A body of zeros shrinks a thousandfold; who sends such is not believed.
    let limits = FrameLimits(messageBytes: 8 << 20)
    let generous = FrameLimits(messageBytes: 8 << 20, inflationMax: 100_000)
    let parts = try FrameEncoder(generous, compresses: true)
      .parts(of: SyncFrame(type: 0x91, session: 1, body: [UInt8](repeating: 0, count: 8 << 20)))
    #expect(parts.joined().count < 16 << 10)
    let error = #expect(throws: FrameError.self) { try whole(parts, limits) }
    #expect(error?.code == .limitExceeded)
    #expect(try whole(parts, generous)?.body.count == 8 << 20)
    // An encoder makes no message that its reader would refuse.
    let sent = try FrameEncoder(limits, compresses: true)
      .parts(of: SyncFrame(type: 0x91, session: 1, body: [UInt8](repeating: 0, count: 8 << 20)))
    #expect(try whole(sent, limits)?.body.count == 8 << 20)
  }

  @Test func `damaged compression is an error`() throws {
    let text = Array(String(repeating: "the same again, ", count: 200).utf8)
    let part = Array(try FrameEncoder(compresses: true).parts(of: SyncFrame(type: 0x91, session: 1, body: text)).joined())
    for place in 3..<part.count {
      var damaged = part
      damaged[place] ^= 0x55
      let error = #expect(throws: FrameError.self) { try whole([damaged]) }
      #expect(error?.code == .badCompression || error?.code == .limitExceeded)
      #expect(throws: FrameError.self) { try whole([Array(part.prefix(place))]) }
    }
    #expect(throws: FrameError.self) { try whole([part + [0]]) }
  }

  @Test func `parts are of one message and end`() throws {
    let limits = FrameLimits(partBytes: 64, messageBytes: 200)
    let frame = SyncFrame(type: 0x91, session: 1, body: [UInt8](repeating: 1, count: 150))
    let parts = try FrameEncoder(limits).parts(of: frame)
    #expect(parts.count == 3)
    func code(_ parts: [[UInt8]]) -> SyncErrorCode? {
      do throws(FrameError) {
        var decoder = FrameDecoder(limits)
        for part in parts { _ = try decoder.take(part) }
        return nil
      } catch { return error.code }
    }
    #expect(code(parts) == nil)
    var other = parts[1]
    other[2] = 9
    #expect(code([parts[0], other]) == .outOfOrder)
    #expect(code([parts[0], [0x91, 2, 1]]) == .badFrame)
    #expect(code([parts[0], parts[0], parts[0], parts[0]]) == .limitExceeded)
    #expect(code([[0x91, 4, 1]]) == .badFrame && code([[0x91]]) == .badFrame && code([[]]) == .badFrame)
    #expect(code([[0x91, 0, 0x81, 0x80, 0x80, 0x80, 0x80, 0x01]]) == .badFrame)
    #expect(code([[0x91, 0, 1] + [UInt8](repeating: 0, count: 90)]) == .limitExceeded)
    let long = #expect(throws: FrameError.self) {
      try FrameEncoder(limits).parts(of: SyncFrame(type: 1, body: [UInt8](repeating: 0, count: 201)))
    }
    #expect(long?.code == .limitExceeded)
  }

  @Test func `without credit nothing goes, and grants are few`() {
    var credit = SendCredit()
    // What changes it cannot be inside an expectation.
    func take(_ size: Int) -> Bool { credit.take(size) }
    #expect(!take(1))
    credit.grant(100)
    #expect(take(60))
    #expect(credit.bytes == 40)
    // Longer than what is left, and than all that is ever granted: it takes all, and is not stuck.
    #expect(take(1_000))
    #expect(credit.bytes == 0)
    #expect(!take(0))
    credit.grant(.max)
    credit.grant(1)
    #expect(credit.bytes == .max)
    var window = ReceiveWindow(size: 100)
    let grants = [49, 1, 10, 90].map { window.settle($0) }
    #expect(grants == [nil, 50, nil, 100])
  }
}
