import SyncProtocol

/// The address of a server: `wss://sync.example.org`, `ws://127.0.0.1:9480`, `ws://[::1]:9480/sync`.
public struct WebSocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// Whether the connection uses TLS: "wss".
  public let isSecure: Bool
  /// A host name or IP address; IPv6 without brackets.
  public let host: String
  /// The port, from 1.
  public let port: Int
  /// The requested path; "/" if the address has none.
  public let path: String

  /// Parses an address. Throws `.badAddress` for an invalid one, and for one that would send plain text over the network.
  ///
  /// - Parameter allowsPlainText: accepts plain text to any host, for a connection protected otherwise: by a tunnel, a private network.
  public init(_ text: String, allowsPlainText: Bool = false) throws(TransportError) {
    func bad(_ why: String) -> TransportError { TransportError(.badAddress, "'\(text)' is no address of a server: \(why).") }
    isSecure = text.hasPrefix("wss://")
    guard isSecure || text.hasPrefix("ws://") else { throw bad("it begins with 'wss://', or 'ws://' on this machine") }
    let rest = text.dropFirst(isSecure ? 6 : 5)
    let end = rest.firstIndex(of: "/") ?? rest.endIndex
    let place = rest[..<end]
    path = end == rest.endIndex ? "/" : String(rest[end...])
    guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw bad("its path has other characters than a path has") }
    let colon = place.last == "]" ? nil : place.lastIndex(of: ":")
    let name = place[..<(colon ?? place.endIndex)]
    if let colon {
      guard let number = UInt16(place[place.index(after: colon)...]), number > 0 else { throw bad("its port is a number up to 65535") }
      port = Int(number)
    } else {
      port = isSecure ? 443 : 80
    }
    let isBracketed = name.first == "[" && name.last == "]"
    let bare = isBracketed ? name.dropFirst().dropLast() : name
    guard !bare.isEmpty, isBracketed || !bare.contains(":"), bare.utf8.allSatisfy({ WebSocketAddress.isOfHost($0) }) else {
      throw bad("it has no host")
    }
    host = String(bare)
    guard isSecure || allowsPlainText || WebSocketAddress.isLoopback(host) else {
      throw bad("what is sent there in plain text others can read; use 'wss://', or say 'allowsPlainText' where nobody can")
    }
  }

  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Whether a host is this machine, independent of name resolution.
  static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
  }

  public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(path)" }

  /// Host and port, as a request names them.
  var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// Constants on which both sides agree.
enum WebSocketNames {
  /// The subprotocol.
  static let subprotocol = "vivarium-sync.1"
  /// The longest frame in bytes: a part of up to 256 KiB, and its header.
  static let frameBytes = (256 << 10) + 64
}
