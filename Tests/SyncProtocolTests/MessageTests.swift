import SyncModel
import SyncProtocol
import Testing
import VivariumTestSupport

@Suite struct MessageTests {
  @Test(arguments: Samples.client) func `what a client says comes back from its bytes`(_ message: ClientMessage) throws {
    var decoder = FrameDecoder()
    for part in try FrameEncoder().parts(of: message.frame) {
      guard let frame = try decoder.take(part) else { continue }
      #expect(try ClientMessage(frame) == message)
    }
    #expect(!decoder.isInside)
  }

  @Test(arguments: Samples.server) func `what a server says comes back from its bytes`(_ message: ServerMessage) throws {
    var decoder = FrameDecoder()
    for part in try FrameEncoder().parts(of: message.frame) {
      guard let frame = try decoder.take(part) else { continue }
      #expect(try ServerMessage(frame) == message)
    }
    #expect(!decoder.isInside)
  }

  @Test func `what is written stays as it is, byte for byte`() throws {
    let client = try Samples.client.map { try hex(FrameEncoder().parts(of: $0.frame)) }
    let server = try Samples.server.map { try hex(FrameEncoder().parts(of: $0.frame)) }
    #expect(client == Golden.client)
    #expect(server == Golden.server)
  }

  @Test func `cut off anywhere, a message is an error that names the place`() throws {
    for frame in Samples.client.map(\.frame) + Samples.server.map(\.frame) where frame.type < SyncFrame.optionalTypes {
      // What is bytes to the end has no wrong end.
      if frame.type & 0x7F == 0x0A { continue }
      for count in frame.body.indices {
        let cut = SyncFrame(type: frame.type, session: frame.session, body: Array(frame.body[..<count]))
        let error = #expect(throws: FrameError.self) { try read(cut) }
        #expect(error?.code == .badFrame && error?.detail.contains("byte") == true)
      }
      let long = SyncFrame(type: frame.type, session: frame.session, body: frame.body + [0])
      #expect(throws: FrameError.self) { try read(long) }
    }
  }

  @Test func `a secret that is too long, and what is no history, are refused`() throws {
    func code(secret: Int, history: Int) -> SyncErrorCode? {
      let bind = Bind(
        path: "/~/tasks", replica: ReplicaID(1), secret: [UInt8](repeating: 1, count: secret), cursor: .zero,
        history: [UInt8](repeating: 2, count: history), refusalSeen: .zero, pendingBase: .zero, schemaHash: 0)
      do throws(FrameError) { _ = try ClientMessage(ClientMessage.bind(session: 1, bind).frame) } catch { return error.code }
      return nil
    }
    #expect(code(secret: 16, history: 0) == nil && code(secret: 16, history: 16) == nil)
    #expect(code(secret: 17, history: 0) == .badFrame && code(secret: 100_000, history: 16) == .badFrame)
    #expect(code(secret: 16, history: 3) == .badFrame && code(secret: 16, history: 17) == .badFrame)
  }

  @Test func `what is no beginning of pages is refused`() throws {
    func code(mode: Bound.Mode = .delta, history: Int = 16, next: Int = 0) -> SyncErrorCode? {
      let begun = BegunPages(
        mode: mode, history: [UInt8](repeating: 2, count: history), asOf: .zero, stable: .zero, judged: 0, refusal: .zero,
        next: [UInt8](repeating: 3, count: next))
      do throws(FrameError) { _ = try ClientMessage(ClientMessage.rest(session: 1, begun).frame) } catch { return error.code }
      return nil
    }
    #expect(code() == nil && code(mode: .snapshot) == nil && code(next: BegunPages.nextBytes) == nil)
    #expect(code(mode: .resume) == .badFrame && code(mode: .reset) == .badFrame && code(mode: .rest) == .badFrame)
    #expect(code(history: 0) == .badFrame && code(history: 17) == .badFrame && code(next: BegunPages.nextBytes + 1) == .badFrame)
  }

  @Test func `damaged anywhere, a message is an error or another message`() throws {
    var random = SeededGenerator.forTest()
    for frame in Samples.client.map(\.frame) + Samples.server.map(\.frame) {
      for place in frame.body.indices {
        for bit in 0..<8 {
          var damaged = frame
          damaged.body[place] ^= 1 << bit
          _ = try? read(damaged)
        }
      }
      for _ in 0..<200 {
        var damaged = frame
        for _ in 0...random.below(4) where !damaged.body.isEmpty {
          damaged.body[random.below(damaged.body.count)] = UInt8(truncatingIfNeeded: random.next())
        }
        _ = try? read(damaged)
      }
    }
  }

  @Test func `a count that cannot be true asks for no memory`() {
    let count: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
    for type in [UInt8(0x01), 0x04, 0x91] {
      let error = #expect(throws: FrameError.self) { try read(SyncFrame(type: type, session: 1, body: count)) }
      #expect(error?.code == .badFrame)
    }
  }

  @Test func `an unknown type is an error unless it may be passed over`() throws {
    #expect(throws: FrameError("0x42")) { try ClientMessage(SyncFrame(type: 0x42)) }
    #expect(throws: FrameError("0xb0")) { try ServerMessage(SyncFrame(type: 0xB0)) }
    #expect(try ClientMessage(SyncFrame(type: 0xC1, body: [1, 2])) == .unknown(type: 0xC1))
    #expect(try ServerMessage(SyncFrame(type: 0xC1, body: [1, 2])) == .unknown(type: 0xC1))
  }

  @Test func `every error says what happened and what helps`() {
    for code in SyncErrorCode.allCases {
      #expect(code.message.hasSuffix(".") && code.remedy.hasSuffix("."))
      #expect(SyncErrorCode(rawValue: code.rawValue) == code)
    }
    #expect(Set(SyncErrorCode.allCases.map(\.message)).count == SyncErrorCode.allCases.count)
  }

  private func read(_ frame: SyncFrame) throws {
    if frame.type < 0x80 { _ = try ClientMessage(frame) } else { _ = try ServerMessage(frame) }
  }

  private func hex(_ parts: [[UInt8]]) -> String {
    parts.joined().map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}

extension FrameError {
  fileprivate init(_ type: String) { self.init(.unknownVersion, "A message of type \(type) is not known.") }
}
