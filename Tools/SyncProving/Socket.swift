import Foundation

/// Sockets of loopback, as the system has them.
enum Socket {
  struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
  }

  static func bound(port: UInt16) throws -> Int32 {
    let descriptor = try make()
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard withAddress(port, { bind(descriptor, $0, $1) }) == 0 else {
      let fault = Fault("bind")
      shutAndClose(descriptor)
      throw fault
    }
    return descriptor
  }

  static func connected(port: UInt16) -> Int32? {
    guard let descriptor = try? make() else { return nil }
    guard withAddress(port, { connect(descriptor, $0, $1) }) == 0 else {
      shutAndClose(descriptor)
      return nil
    }
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    return descriptor
  }

  static func port(of descriptor: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard code == 0 else { throw Fault("getsockname") }
    return UInt16(bigEndian: address.sin_port)
  }

  static func writeAll(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, noSignal) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Ends both directions of sockets; who waits for them goes on.
  static func shut(_ descriptors: Int32...) { for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) } }

  /// Ends a listener, which its thread closes.
  static func stop(_ listener: Int32) { shut(listener) }

  static func shutAndClose(_ descriptor: Int32) {
    shut(descriptor)
    _ = close(descriptor)
  }

  #if canImport(Darwin)
  private static let noSignal: Int32 = 0
  private static let stream = SOCK_STREAM
  #else
  private static let noSignal = Int32(MSG_NOSIGNAL)
  private static let stream = Int32(SOCK_STREAM.rawValue)
  #endif

  private static func make() throws -> Int32 {
    let descriptor = socket(AF_INET, stream, 0)
    guard descriptor >= 0 else { throw Fault("socket") }
    // Programs that are started meanwhile must not keep it open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    #if canImport(Darwin)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    return descriptor
  }

  private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }
}
