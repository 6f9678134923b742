#if Sync
import Crypto
import Foundation
import SyncProtocol
import SyncServer
import SyncTokens
import Testing

/// A server that trusts an issuer, and what the issuer's tokens say.
private struct TrustingServer {
  static let issuer = "https://id.example"
  let server: TestServer

  init(_ keys: String) async throws {
    server = try await TestServer(outside: [TokenVerifier.Outside(name: TrustingServer.issuer, keys: keys)])
  }

  /// Seconds since 1970.
  var now: Double { Double(server.now / 1000) }

  func claims(_ changes: [String: Any] = [:]) -> [String: Any] {
    let usual: [String: Any] = ["iss": TrustingServer.issuer, "sub": "eve", "aud": "vivarium", "exp": now + 600]
    return usual.merging(changes) { $1 }
  }

  /// Why a token is refused; nil for one that is the user's.
  func refusal(of token: String) async -> SyncErrorCode? {
    await code {
      let identity = try await server.identity(token)
      #expect(identity.user == "eve" && identity.isOutside)
    }
  }
}

@Suite("Tokens of an outside issuer")
struct OutsideIssuerTests {
  @Test("are its users', whatever kind of key it has, and whether or not the set says for what", arguments: OutsideKey.Kind.allCases)
  func kinds(kind: OutsideKey.Kind) async throws {
    let key = try OutsideKey(kind)
    for entry in [try key.entry(), try key.entry(["alg": nil, "use": nil])] {
      let trusting = try await TrustingServer(OutsideKey.set([entry]))
      let token = try key.token(trusting.claims())
      #expect(await trusting.refusal(of: token) == nil)
      // Signed by another, and of another length.
      let parts = token.split(separator: ".").map(String.init)
      for other in [String(parts[2].reversed()), String(parts[2].dropLast(4)), parts[2] + "AAAA", ""] {
        let changed = "\(parts[0]).\(parts[1]).\(other)"
        #expect(await trusting.refusal(of: changed) == .tokenInvalid)
      }
    }
  }

  @Test("count for what they are made for, and while they are", arguments: [OutsideKey.Kind.p256, .rsa])
  func claims(kind: OutsideKey.Kind) async throws {
    let key = try OutsideKey(kind)
    let trusting = try await TrustingServer(try key.keySet)
    let now = trusting.now
    let cases: [([String: Any], SyncErrorCode?)] = [
      (["aud": "other"], .tokenInvalid), (["aud": [String]()], .tokenInvalid), (["aud": ["other", "vivarium"]], nil),
      (["iss": "https://other.example"], .tokenInvalid), (["iss": "vivarium"], .tokenInvalid), (["iss": ""], .tokenInvalid),
      // Clocks of issuers may be a minute off.
      (["exp": now - 30], nil), (["exp": now - 61], .tokenExpired), (["nbf": now + 30], nil), (["nbf": now + 61], .tokenInvalid),
      (["exp": 1e300], .tokenInvalid), (["exp": -1e300], .tokenInvalid), (["exp": "soon"], .tokenInvalid),
      (["sub": "../eve"], .tokenInvalid),
    ]
    for (changes, expected) in cases {
      let token = try key.token(trusting.claims(changes))
      #expect(await trusting.refusal(of: token) == expected, "\(changes)")
    }
    var endless = trusting.claims()
    endless["exp"] = nil
    let token = try key.token(endless)
    #expect(await trusting.refusal(of: token) == .tokenInvalid)
  }

  @Test("are verified with the key that they name, as what it is")
  func names() async throws {
    let (rsa, ec) = (try OutsideKey(.rsa, name: "rsa"), try OutsideKey(.p256, name: "ec"))
    let trusting = try await TrustingServer(OutsideKey.set([try rsa.entry(), try ec.entry()]))
    for key in [rsa, ec] {
      for header in [["kid": "another"], ["kid": nil], ["alg": nil], ["alg": "ES384"], ["alg": "PS256"]] as [[String: Any?]] {
        let token = try key.token(trusting.claims(), header: header)
        #expect(await trusting.refusal(of: token) == .tokenInvalid, "\(header)")
      }
    }
    // As the name of the other key, and in its own way or in the other's.
    for (key, other) in [(rsa, ec), (ec, rsa)] {
      for algorithm in [key.kind, other.kind] {
        let token = try key.token(trusting.claims(), header: ["kid": other.name, "alg": algorithm.rawValue])
        #expect(await trusting.refusal(of: token) == .tokenInvalid)
      }
    }
    // A set may call keys of two kinds the same.
    let same = try await TrustingServer(OutsideKey.set([try rsa.entry(["kid": "one"]), try ec.entry(["kid": "one"])]))
    for key in [rsa, ec] {
      let token = try key.token(same.claims(), header: ["kid": "one"])
      #expect(await same.refusal(of: token) == nil)
    }
    // If there is only one, nobody has to name it; and another cannot be meant.
    let single = try await TrustingServer(try ec.keySet)
    let (nameless, misnamed) = (
      try ec.token(single.claims(), header: ["kid": nil]), try ec.token(single.claims(), header: ["kid": "another"])
    )
    #expect(await single.refusal(of: nameless) == nil)
    #expect(await single.refusal(of: misnamed) == .tokenInvalid)
  }

  @Test("are signed with a key that only the issuer has: by nothing else, and not with what everybody has", arguments: [
    OutsideKey.Kind.ed25519, .p256, .rsa,
  ])
  func confusion(kind: OutsideKey.Kind) async throws {
    let key = try OutsideKey(kind)
    for entry in [try key.entry(), try key.entry(["alg": nil])] {
      let trusting = try await TrustingServer(OutsideKey.set([entry]))
      for header in [["alg": "none"], ["alg": "None", "kid": nil], ["alg": ""]] as [[String: Any?]] {
        let unsigned = try key.unsigned(trusting.claims(), header: header)
        #expect(await trusting.refusal(of: unsigned + ".") == .tokenInvalid)
        let signed = try key.token(trusting.claims(), header: header)
        #expect(await trusting.refusal(of: signed) == .tokenInvalid)
      }
      for secret in try key.knownToAll {
        for header in [["alg": "HS256"], ["alg": "HS256", "kid": nil]] as [[String: Any?]] {
          let text = try key.unsigned(trusting.claims(), header: header)
          let signature = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: secret))
          #expect(await trusting.refusal(of: text + "." + urlSafe(Data(signature))) == .tokenInvalid)
        }
      }
      // A key that the token brings along, and an extension that has to be understood.
      let stranger = try OutsideKey(.p256)
      let brought: [String: Any?] = ["jwk": try JSONSerialization.jsonObject(with: Data(try stranger.entry().utf8))]
      let foreign = try stranger.token(trusting.claims(), header: brought)
      #expect(await trusting.refusal(of: foreign) == .tokenInvalid)
      let critical = try key.token(trusting.claims(), header: ["crit": ["b64"], "b64": false])
      #expect(await trusting.refusal(of: critical) == .tokenInvalid)
    }
  }

  @Test("cannot make the key useless to others: one with another algorithm changes nothing")
  func firstToken() async throws {
    let key = try OutsideKey(.rsa)
    let trusting = try await TrustingServer(OutsideKey.set([try key.entry(["alg": nil])]))
    for algorithm in ["PS256", "RS512", "ES256", "HS256", "none"] {
      let wrong = try key.token(trusting.claims(), header: ["alg": algorithm])
      #expect(await trusting.refusal(of: wrong) == .tokenInvalid)
    }
    let right = try key.token(trusting.claims())
    #expect(await trusting.refusal(of: right) == nil)
  }

  @Test("end with their key, when its set is read again; a set that cannot be used changes nothing")
  func rotation() async throws {
    let (old, new) = (try OutsideKey(.p256, name: "old"), try OutsideKey(.p256, name: "new"))
    let trusting = try await TrustingServer(OutsideKey.set([try old.entry(), try new.entry()]))
    let (first, second) = (try old.token(trusting.claims()), try new.token(trusting.claims()))
    for token in [first, second] { #expect(await trusting.refusal(of: token) == nil) }
    func trust(_ keys: String) async throws {
      try await trusting.server.verifier.trust([TokenVerifier.Outside(name: TrustingServer.issuer, keys: keys)])
    }
    await #expect(throws: IssuerError.self) { try await trust("{") }
    for token in [first, second] { #expect(await trusting.refusal(of: token) == nil) }
    try await trust(OutsideKey.set([try new.entry()]))
    #expect(await trusting.refusal(of: first) == .tokenInvalid)
    #expect(await trusting.refusal(of: second) == nil)
    try await trusting.server.verifier.trust([])
    #expect(await trusting.refusal(of: second) == .tokenInvalid)
  }
}

@Suite("The keys of an outside issuer")
struct OutsideKeysTests {
  private func fault(_ outside: TokenVerifier.Outside...) async -> IssuerError? {
    do { _ = try await TestServer(outside: outside) } catch { return error as? IssuerError }
    return nil
  }

  private func fault(ofSet text: String) async -> IssuerError? {
    await fault(TokenVerifier.Outside(name: "https://id.example", keys: text))
  }

  @Test("are refused with the reason and a remedy where they are none, or cannot be used")
  func malformed() async throws {
    let (ec, edwards) = (try OutsideKey(.p256), try OutsideKey(.ed25519))
    let rsa = try OutsideKey(.rsa)
    let ones = urlSafe(Data(repeating: 1, count: 32))
    let members = try JSONSerialization.jsonObject(with: Data(try rsa.entry().utf8)) as? [String: String]
    let short = String(try #require(members?["n"]).prefix(168))
    let cases: [(String, IssuerError.Code)] = [
      ("", .noKeySet), ("no keys", .noKeySet), ("[]", .noKeySet), ("{}", .noKeySet), ("{\"keys\":{}}", .noKeySet),
      (String(try ec.keySet.dropLast(2)), .noKeySet), (OutsideKey.set([]), .noKey), (OutsideKey.set(["5", "[]", "{}"]), .noKey),
      (OutsideKey.set(["{\"kty\":\"oct\",\"kid\":\"one\",\"k\":\"AAAA\"}"]), .noKey),
      (OutsideKey.set([try ec.entry(["use": "enc"])]), .noKey), (OutsideKey.set([try ec.entry(["alg": "ES384"])]), .noKey),
      (OutsideKey.set([try ec.entry(["kid": nil])]), .namelessKey), (OutsideKey.set([try ec.entry(["kid": ""])]), .namelessKey),
      (OutsideKey.set([try ec.entry(), try ec.entry()]), .sameName),
      (OutsideKey.set([try ec.entry(["x": ones, "y": ones])]), .badKey), (OutsideKey.set([try ec.entry(["y": nil])]), .badKey),
      (OutsideKey.set([try rsa.entry(["n": "*"])]), .badKey), (OutsideKey.set([try rsa.entry(["e": nil])]), .badKey),
      // Of 1,008 bits.
      (OutsideKey.set([try rsa.entry(["n": short])]), .badKey),
      (OutsideKey.set([try edwards.entry(["x": nil])]), .badKey), (OutsideKey.set([try edwards.entry(["x": "AAAA"])]), .badKey),
    ]
    for (text, code) in cases {
      let error = await fault(ofSet: text)
      #expect(error?.code == code, "\(text)")
      #expect(error?.message.contains("https://id.example") == true && error?.remedy.isEmpty == false)
    }
  }

  @Test("may stand among others that are of no use here")
  func others() async throws {
    let key = try OutsideKey(.p256)
    let others = [
      "{\"kty\":\"oct\",\"kid\":\"secret\",\"k\":\"AAAA\"}", "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"kid\":\"x\",\"x\":\"AAAA\"}",
      "{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"kid\":\"k\",\"alg\":\"ES256K\",\"x\":\"AAAA\",\"y\":\"AAAA\"}",
      "{\"kty\":\"RSA\",\"kid\":\"e\",\"use\":\"enc\",\"alg\":\"RSA-OAEP-256\",\"n\":\"AAAA\",\"e\":\"AQAB\"}", "{\"kty\":7}", "[]",
    ]
    let trusting = try await TrustingServer(OutsideKey.set(others + [try key.entry()]))
    let token = try key.token(trusting.claims())
    #expect(await trusting.refusal(of: token) == nil)
  }

  @Test("belong to an issuer with a name of its own")
  func issuers() async throws {
    let keys = try OutsideKey().keySet
    func outside(_ name: String) -> TokenVerifier.Outside { TokenVerifier.Outside(name: name, keys: keys) }
    // The server's own issuer is called so.
    #expect(await fault(outside("vivarium"))?.code == .badName)
    #expect(await fault(outside(""))?.code == .badName)
    #expect(await fault(outside("a"), outside("a"))?.code == .badName)
    #expect(await fault(outside("a"), outside("b")) == nil)
  }
}
#endif
