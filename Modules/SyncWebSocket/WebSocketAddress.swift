import SyncProtocol

/// Where a server is: `wss://sync.example.org`, `ws://127.0.0.1:9480`, `ws://[::1]:9480/sync`.
public struct WebSocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// Whether TLS is spoken there: "wss".
  public let isSecure: Bool
  /// A name or a number, of IPv6 without brackets.
  public let host: String
  /// From 1 on.
  public let port: Int
  /// What is asked for; "/" where the address says nothing.
  public let path: String

  /// The address of a text. Throws `.badAddress` for what is none, and for one that would go through the network in plain text.
  ///
  /// - Parameter allowsPlainText: takes any host, where something else keeps what is sent from other eyes: a tunnel, a private network.
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

  /// Whether a host is this machine, whatever the network says.
  static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
  }

  public var description: String { "\(isSecure ? "wss" : "ws")://\(authority)\(path)" }

  /// Host and port, as a request names them.
  var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// What both sides name when they agree on WebSocket.
enum WebSocketNames {
  /// The protocol inside.
  static let subprotocol = "vivarium-sync.1"
  /// A frame carries one part: up to 256 KiB, and its head.
  static let frameBytes = (256 << 10) + 64
}
