#if Sync && os(Linux)
import Foundation

/// A network interface whose cable is this process: what the system sends through it is read here, as IP packets, and what is written here
/// arrives there. It begins in the process's own namespace, and is gone with this object, whichever namespace it was moved to.
///
/// **Threads.** Any may call; of several readers each gets other packets.
final class TunnelDevice: Sendable {
  /// Longer than any packet: an interface has 1500 bytes for each, unless it is told otherwise.
  static let packetBytes = 2_048

  let name: String
  /// For `poll`; reading and writing never wait.
  let descriptor: Int32

  /// Throws where it is not allowed, or there are no such interfaces.
  ///
  /// - Parameter name: at most 15 ASCII characters, and of no other interface of the process's namespace.
  init(_ name: String) throws {
    self.name = name
    descriptor = try TunnelDevice.opened(name)
  }

  deinit { close(descriptor) }

  private static func opened(_ name: String) throws -> Int32 {
    let descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw CheckFailed("'/dev/net/tun' cannot be opened: \(String(cString: strerror(errno)))") }
    // An `ifreq`: 16 bytes of name, and a union of 24, here of two bytes of flags.
    var request = Array(name.utf8.prefix(15))
    request += [UInt8](repeating: 0, count: 40 - request.count)
    // IFF_TUN: packets without a frame round them; IFF_NO_PI: and without a word of what they are.
    withUnsafeBytes(of: UInt16(0x0001 | 0x1000)) { request.replaceSubrange(16..<18, with: $0) }
    // TUNSETIFF, whose macro Swift does not see.
    guard ioctl(descriptor, 0x4004_54CA, &request) == 0 else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw CheckFailed("there can be no interface '\(name)': \(reason)")
    }
    return descriptor
  }

  /// The next packet that was sent, which lies in the buffer; nil where there is none now.
  func take(_ buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
    let count = read(descriptor, &buffer, buffer.count)
    return count > 0 ? buffer[..<count] : nil
  }

  /// Has a packet arrive. One that the system does not take is lost, as any may be.
  func put(_ packet: [UInt8]) { _ = packet.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
}
#endif
