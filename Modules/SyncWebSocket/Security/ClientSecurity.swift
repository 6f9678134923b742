#if Sync
import Crypto
import NIOCore
import NIOSSL
import NIOTLS
import SyncProtocol

/// A client's side of TLS: its trust, and its handshakes.
struct ClientSecurity: Sendable {
  private let context: NIOSSLContext
  private let pin: [UInt8]?
  private let host: String

  init(_ trust: ServerTrust, host: String) throws(TransportError) {
    self.host = host
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    switch trust {
    case .system: pin = nil
    case .roots(let file):
      pin = nil
      do { configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(file)) } catch {
        throw TransportError(.badCertificate, "'\(file)' has no certificates that can be read.")
      }
    case .pin(let sha256):
      pin = sha256
      configuration.certificateVerification = .noHostnameVerification
    }
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      throw TransportError(.badCertificate, "TLS cannot be set up: \(error).")
    }
  }

  /// Adds TLS to a new connection; the returned future completes once the server is verified.
  func add(to channel: any Channel) throws -> EventLoopFuture<Void> {
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    let name = isAddress ? nil : host
    let handler: NIOSSLClientHandler
    if let pin {
      handler = try NIOSSLClientHandler(context: context, serverHostname: name) { chain, promise in
        promise.succeed(chain.first.map { ClientSecurity.matches($0, pin) } == true ? .certificateVerified : .failed)
      }
    } else {
      handler = try NIOSSLClientHandler(context: context, serverHostname: name)
    }
    let done = channel.eventLoop.makePromise(of: Void.self)
    try channel.pipeline.syncOperations.addHandlers(handler, HandshakeWatch(done))
    return done.futureResult
  }

  private static func matches(_ certificate: NIOSSLCertificate, _ pin: [UInt8]) -> Bool {
    let forms = [try? certificate.toDERBytes(), try? certificate.extractPublicKey().toSPKIBytes()]
    return forms.contains { bytes in bytes.map { SHA256.hash(data: $0).elementsEqual(pin) } ?? false }
  }

  /// The error that a failed handshake means.
  func meaning(of error: any Error, _ address: WebSocketAddress) -> TransportError {
    let text = "\(error)"
    if error is HandshakeWatch.Ended || error is IOError || text.contains("EOF") || text.contains("uncleanShutdown") {
      return TransportError(.unreachable, "The connection to \(address) was lost before the server had shown who it is.")
    }
    let why =
      if text.contains("CERTIFICATE_VERIFY_FAILED"), pin != nil {
        "its key is not the pinned one"
      } else if text.contains("CERTIFICATE_VERIFY_FAILED") {
        "nobody whom this device trusts has signed its certificate, or that is out of date by this device's clock"
      } else if text.contains("ostname") {
        "its certificate is for another name"
      } else if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
        "it speaks no TLS"
      } else {
        text
      }
    return TransportError(.untrusted, "The server at \(address) cannot be trusted: \(why).")
  }
}

/// Waits for the end of a handshake.
private final class HandshakeWatch: ChannelInboundHandler {
  typealias InboundIn = Any
  /// The connection was closed before the handshake was complete.
  struct Ended: Error {}
  private let done: EventLoopPromise<Void>

  init(_ done: EventLoopPromise<Void>) { self.done = done }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent { done.succeed() }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    done.fail(error)
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    done.fail(Ended())
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { done.fail(Ended()) }
}
#endif
