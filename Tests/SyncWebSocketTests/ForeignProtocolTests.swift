#if Sync
import SyncProtocol
import SyncWebSocket
import Testing
import VivariumTestSupport

@Suite("A port of a server")
struct ForeignProtocolTests {
  @Test("closes at once on what speaks something else, says so where that is understood, and goes on", arguments: [
    ([0x16, 0x03, 0x01, 0x02, 0x00], "HTTP/1.1 400", "TLS"),
    (Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8), "HTTP/1.1 505", "HTTP/2"),
    (Array("\u{0}\u{1}\u{2}nothing".utf8), "", "no HTTP"),
    (Array("ssh-2.0\r\n".utf8), "", "no HTTP"),
  ] as [([UInt8], String, String)])
  func foreign(bytes: [UInt8], answer: String, notice: String) async throws {
    let notices = Notices()
    var options = WebSocketListener.Options()
    options.notice = { notices.add($0) }
    // Long enough that a test which waits for it is seen to.
    options.limits.seconds = 600
    try await withEcho(options) { port in
      #expect(try await said(to: bytes, port).hasPrefix(answer))
      #expect(notices.all.contains { $0.contains(notice) })
      let transport = try await WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 600).connect()
      try await transport.send([[5]])
      #expect(try await transport.receive() == [5])
    }
  }

  @Test("closes on HTTP that is none", arguments: [
    "GET /\u{1} \r\n\r\n", "NONSENSE / HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
  ])
  func garbage(text: String) async throws {
    var options = WebSocketListener.Options()
    options.limits.seconds = 600
    try await withEcho(options) { port in
      let answer = try await said(to: text, port)
      #expect(!answer.contains("101"))
      #expect(try await said(to: "GET /health HTTP/1.0\r\n\r\n", port).hasSuffix("ok\n"))
    }
  }

  @Test("tells who speaks no TLS to it that it does")
  func plainToSecure() async throws {
    let certificates = try TestCertificates()
    let files = try certificates.server()
    var options = WebSocketListener.Options()
    options.certificate = try withExtendedLifetime(certificates) { try ServerCertificate(chain: files.chain, key: files.key) }
    try await withEcho(options) { port in
      let answer = try await said(to: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", port)
      #expect(answer.hasPrefix("HTTP/1.1 400"))
      #expect(answer.contains("wss://"))
      await #expect { _ = try await WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 600).connect() } throws: {
        ($0 as? TransportError)?.code == .foreignProtocol
      }
    }
  }

  @Test("answers requests by their method, path, token and body, and none that is too long")
  func requests() async throws {
    var options = WebSocketListener.Options()
    options.answer = { request in
      let sent = "\(request.method) \(request.path) \(request.token ?? "-") \(request.body.count)"
      return WebAnswer(status: 201, "\(sent) \(request.address) \(request.isLocal)")
    }
    try await withEcho(options) { port in
      let connector = try WebSocketConnector("ws://127.0.0.1:\(port)", seconds: 600)
      let answer = try await connector.answer(
        to: WebRequest(method: "POST", path: "/auth/v1/login", token: "secret", body: [UInt8](repeating: 65, count: WebRequest.bytes)))
      #expect(answer.status == 201)
      #expect(String(decoding: answer.body, as: UTF8.self) == "POST /auth/v1/login secret 65536 127.0.0.1 true")
      let long = try await connector.answer(
        to: WebRequest(method: "POST", path: "/", body: [UInt8](repeating: 65, count: WebRequest.bytes + 1)))
      #expect(long.status == 413)
      #expect(try await said(to: "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n", port).contains("GET /a - 0"))
    }
  }

  @Test("behind a proxy believes the proxy where somebody comes from, and nobody to be local")
  func proxy() async throws {
    var options = WebSocketListener.Options()
    options.isBehindProxy = true
    options.answer = { WebAnswer("\($0.address) \($0.isLocal)") }
    try await withEcho(options) { port in
      let answer = try await said(to: "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 1.1.1.1, 9.9.9.9\r\n\r\n", port)
      #expect(answer.hasSuffix("9.9.9.9 false"))
      // One client has a whole network of version 6.
      let sixth = try await said(to: "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 2001:db8:1:2:3:4:5:6\r\n\r\n", port)
      #expect(sixth.hasSuffix("2001:db8:1:2::/64 false"))
      let unknown = try await said(to: "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: unknown\r\n\r\n", port)
      #expect(unknown.hasSuffix("unknown false"))
    }
  }
}
#endif
