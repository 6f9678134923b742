#if Sync && os(Linux)
/// The addresses within the namespaces: all servers have the same one, which is why a device can be led to another without a word to it.
enum NamespaceAddress {
  /// Whom a packet is for.
  enum Receiver: Equatable { case server, device(Int) }

  static let server = "10.77.0.1"
  /// Where every server listens. Nobody else is in its namespace.
  static let port = 7700
  /// The bits that all addresses share.
  static let sharedBits = 16
  /// Devices of one value of the third number.
  private static let row = 250

  static func device(_ number: Int) -> String { "10.77.\(1 + number / row).\(1 + number % row)" }

  /// nil for a packet of another protocol, as the system sends by itself.
  static func receiver(of packet: ArraySlice<UInt8>) -> Receiver? {
    guard packet.count >= 20, let first = packet.first, first >> 4 == 4 else { return nil }
    let address = packet.dropFirst(16).prefix(4).map { Int($0) }
    guard address[0] == 10, address[1] == 77, address[3] > 0 else { return nil }
    if address[2] == 0 { return address[3] == 1 ? .server : nil }
    return .device((address[2] - 1) * row + address[3] - 1)
  }
}
#endif
