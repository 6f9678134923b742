#if Sync
import Crypto
import Foundation

/// An issuer that is not the server.
struct OutsideKey {
  private let key = Curve25519.Signing.PrivateKey()

  var keySet: String {
    let x = urlSafe(key.publicKey.rawRepresentation)
    return "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"one\",\"x\":\"\(x)\"}]}"
  }

  func token(_ claims: [String: Any]) throws -> String {
    let head = encoded("{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"kid\":\"one\"}")
    let text = head + "." + urlSafe(try JSONSerialization.data(withJSONObject: claims))
    return text + "." + urlSafe(try key.signature(for: Data(text.utf8)))
  }
}

func encoded(_ text: String) -> String { urlSafe(Data(text.utf8)) }

func urlSafe(_ data: Data) -> String {
  data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}

/// Base 64 that is safe in addresses, as other base 64.
func padded(_ text: String) -> String {
  let plain = text.replacing("-", with: "+").replacing("_", with: "/")
  return plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
}
#endif
