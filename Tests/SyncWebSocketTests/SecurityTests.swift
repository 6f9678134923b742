#if Sync
import Foundation
import SyncProtocol
import SyncWebSocket
import Testing
import VivariumTestSupport

@Suite("TLS")
struct SecurityTests {
  private let certificates: TestCertificates

  init() throws { certificates = try TestCertificates() }

  private func withServer(
    _ names: String = "DNS:localhost, IP:127.0.0.1", _ body: (Int, _ chain: String) async throws -> Void
  ) async throws {
    let files = try certificates.server(names: names)
    var options = WebSocketListener.Options()
    options.certificate = try ServerCertificate(chain: files.chain, key: files.key)
    try await withEcho(options) { port in try await body(port, files.chain) }
  }

  private func echoes(_ connector: WebSocketConnector) async throws {
    let transport = try await connector.connect()
    let part = [UInt8](repeating: 9, count: 256 << 10)
    try await transport.send([part])
    #expect(try await transport.receive() == part)
    await transport.close()
  }

  private func isRefused(_ connector: WebSocketConnector, _ why: String) async {
    await #expect { _ = try await connector.connect() } throws: { error in
      guard let error = error as? TransportError else { return false }
      return error.code == .untrusted && error.message.contains(why) && error.remedy.contains("certificate")
    }
  }

  @Test("carries parts to a server that a trusted root has signed, by its name and by its address")
  func roots() async throws {
    try await withServer { port, _ in
      for host in ["localhost", "127.0.0.1"] {
        try await echoes(try WebSocketConnector("wss://\(host):\(port)", trust: .roots(file: certificates.root)))
      }
    }
  }

  @Test("carries parts to a server whose certificate or key is pinned, whatever its name is")
  func pins() async throws {
    try await withServer("DNS:elsewhere.example") { port, chain in
      for isKey in [false, true] {
        let pin = try TestCertificates.pin(of: chain, isKey: isKey)
        try await echoes(try WebSocketConnector("wss://127.0.0.1:\(port)", trust: try #require(ServerTrust(pin: pin))))
      }
      let wrong = try #require(ServerTrust(pin: String(repeating: "0", count: 64)))
      await isRefused(try WebSocketConnector("wss://127.0.0.1:\(port)", trust: wrong), "pinned")
    }
  }

  @Test("refuses a server that nobody trusted has signed, or that has another name, and says why")
  func strangers() async throws {
    try await withServer("DNS:elsewhere.example") { port, _ in
      await isRefused(try WebSocketConnector("wss://localhost:\(port)"), "trusts")
      let trust = ServerTrust.roots(file: certificates.root)
      await isRefused(try WebSocketConnector("wss://localhost:\(port)", trust: trust), "name")
    }
  }

  @Test("refuses a server that speaks none, and does not wait for it")
  func plain() async throws {
    try await withEcho { port in
      await isRefused(try WebSocketConnector("wss://localhost:\(port)", seconds: 600), "no TLS")
    }
  }

  @Test("has a certificate that is read again for new connections, while those that there are go on")
  func reload() async throws {
    let files = try certificates.server()
    let certificate = try ServerCertificate(chain: files.chain, key: files.key)
    let first = try #require(ServerTrust(pin: try TestCertificates.pin(of: files.chain)))
    var options = WebSocketListener.Options()
    options.certificate = certificate
    try await withEcho(options) { port in
      let old = try await WebSocketConnector("wss://localhost:\(port)", trust: first).connect()
      _ = try certificates.server()
      let second = try #require(ServerTrust(pin: try TestCertificates.pin(of: files.chain)))
      await isRefused(try WebSocketConnector("wss://localhost:\(port)", trust: second), "pinned")
      try certificate.reload()
      try await echoes(try WebSocketConnector("wss://localhost:\(port)", trust: second))
      try await old.send([[1]])
      #expect(try await old.receive() == [1])
      // What cannot be used changes nothing.
      try Data("nothing".utf8).write(to: URL(fileURLWithPath: files.chain))
      #expect(throws: TransportError.self) { try certificate.reload() }
      try await echoes(try WebSocketConnector("wss://localhost:\(port)", trust: second))
    }
  }

  @Test("says which file of a certificate cannot be used")
  func files() throws {
    let (one, other) = (try certificates.server("one"), try certificates.server("other"))
    for (chain, key, named) in [
      ("/nowhere.pem", one.key, "/nowhere.pem"), (one.chain, "/nowhere.key", "/nowhere.key"), (one.key, one.key, one.key),
      (one.chain, other.key, other.key),
    ] {
      #expect {
        _ = try ServerCertificate(chain: chain, key: key)
      } throws: {
        let error = $0 as? TransportError
        return error?.code == .badCertificate && error?.message.contains(named) == true
      }
    }
    #expect(throws: TransportError.self) { try WebSocketConnector("wss://localhost", trust: .roots(file: "/nowhere")) }
  }

  @Test("has pins in the forms that people have them in")
  func pinTexts() {
    let bytes = [UInt8](0..<32)
    let hexadecimal = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    #expect(ServerTrust(pin: hexadecimal.joined()) == .pin(sha256: bytes))
    #expect(ServerTrust(pin: hexadecimal.joined(separator: ":").uppercased()) == .pin(sha256: bytes))
    #expect(ServerTrust(pin: "sha256/" + Data(bytes).base64EncodedString()) == .pin(sha256: bytes))
    for text in ["", "sha256/", "sha256/AAAA", "00", String(repeating: "g", count: 64)] { #expect(ServerTrust(pin: text) == nil) }
  }
}
#endif
