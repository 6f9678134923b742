#if Sync
import Crypto
import Foundation
import SyncClient
import SyncProtocol
import SyncWebSocket
import Testing
import Vivarium
import VivariumTestSupport

/// An issuer that is not the server, with a key of the kind that most have.
private struct Issuer {
  static let name = "https://id.example"
  private let key = P256.Signing.PrivateKey()
  private let keyName: String

  init(keyName: String) { self.keyName = keyName }

  /// Writes its key to a file, as the set that an issuer publishes.
  func publish(to file: String) throws {
    let point = key.publicKey.rawRepresentation
    let (x, y) = (Issuer.urlSafe(point.prefix(32)), Issuer.urlSafe(point.suffix(32)))
    let entry = ["kty": "EC", "crv": "P-256", "use": "sig", "kid": keyName, "x": x, "y": y]
    try JSONEncoder().encode(["keys": [entry]]).write(to: URL(fileURLWithPath: file), options: .atomic)
  }

  /// A token of a user, for the next hour.
  func token(_ user: String) throws -> String {
    let header = ["alg": "ES256", "typ": "JWT", "kid": keyName]
    let claims: [String: Any] = [
      "iss": Issuer.name, "sub": user, "aud": "vivarium", "exp": (Date().timeIntervalSince1970 + 3600).rounded(),
    ]
    let text = Issuer.urlSafe(try JSONEncoder().encode(header)) + "." + Issuer.urlSafe(try JSONSerialization.data(withJSONObject: claims))
    return text + "." + Issuer.urlSafe(try key.signature(for: Data(text.utf8)).rawRepresentation)
  }

  private static func urlSafe(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

@MainActor @Suite("The server's program with an outside issuer")
struct IssuerProgramTests {
  private let directory = TemporaryDirectory()
  private var folder: String { directory.url.appending(path: "server").path }
  private var file: String { directory.url.appending(path: "keys.json").path }

  @Test("lets its users in by the keys of a file, which is read again when it is told to")
  func keys() async throws {
    let (first, second) = (Issuer(keyName: "first"), Issuer(keyName: "second"))
    let (old, new) = (try first.token("eve"), try second.token("eve"))
    try first.publish(to: file)
    let server = try ServerProcess(folder: folder, "--issuer", "\(Issuer.name)=\(file)")
    let connector = try WebSocketConnector("ws://127.0.0.1:\(server.port)")
    // Not an administrator, or not known at all.
    func status(_ token: String) async throws -> Int {
      try await connector.answer(to: WebRequest(method: "GET", path: "/admin/v1/users", token: token)).status
    }
    #expect(try await status(old) == 403)
    #expect(try await status(new) == 401)
    let device = try Device(directory, "first", connector: connector, credentials: FixedToken(old))
    await device.replicator.start()
    try device.write("a", "from outside")
    try await device.replicator.uploaded()
    let later = try Device(directory, "second", connector: connector, credentials: FixedToken(new))
    await later.replicator.start()
    guard case .suspended(let error)? = await later.state({ if case .suspended = $0 { true } else { false } }) else { return }
    #expect(error.code == .tokenInvalid)
    try second.publish(to: file)
    server.hangUp()
    // Each try is an answer of the server, which takes the signal when it comes to it.
    var isTaken = false
    for _ in 0..<10_000 where !isTaken { isTaken = try await status(new) == 403 }
    #expect(isTaken)
    #expect(try await status(old) == 401)
    await later.replicator.retry()
    try await later.replicator.downloaded()
    #expect(later.texts == ["a": "from outside"])
    // Who was let in before goes on.
    try device.write("b", "still here")
    try await device.replicator.uploaded()
    for one in [device, later] { await one.replicator.stop() }
    #expect(server.end() == 0)
    #expect(try ServerProcess.run("store", "list", "--folder", folder).output == "/eve/pages\n")
  }

  @Test("does not begin with keys that cannot be used, and says what helps", arguments: [
    ("no keys", "JWKS"), ("{\"keys\":[]}", "ES256"), ("{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}]}", "kid"),
    (nil, "readable"),
  ] as [(String?, String)])
  func unusable(text: String?, remedy: String) throws {
    if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: file)) }
    // It would not listen there in any case.
    let arguments = ["serve", "--folder", folder, "--host", "0.0.0.0", "--issuer", "\(Issuer.name)=\(file)"]
    let (_, problem, status) = try ServerProcess.run(arguments: arguments, input: "")
    #expect(status != 0)
    #expect(problem.contains(Issuer.name) && problem.contains(remedy), "\(problem)")
  }
}
#endif
