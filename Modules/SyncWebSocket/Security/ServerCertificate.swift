#if Sync
import NIOSSL
import SyncProtocol
import Synchronization

/// A server's certificate and key, from PEM files, for TLS 1.2 and later. `reload` reads changed files; existing connections continue.
///
/// **Threads.** Any thread may call.
public final class ServerCertificate: Sendable {
  private let chain: String
  private let key: String
  private let current: Mutex<NIOSSLContext>

  /// Reads the files. Throws `.badCertificate` if they cannot be used.
  ///
  /// - Parameters:
  ///   - chain: a PEM file, the server's own certificate first.
  ///   - key: a PEM file.
  public init(chain: String, key: String) throws(TransportError) {
    (self.chain, self.key) = (chain, key)
    current = Mutex(try ServerCertificate.context(chain, key))
  }

  /// Reads the files again, for new connections. If they cannot be used, throws and changes nothing.
  public func reload() throws(TransportError) {
    let next = try ServerCertificate.context(chain, key)
    current.withLock { $0 = next }
  }

  var context: NIOSSLContext { current.withLock { $0 } }

  private static func context(_ chain: String, _ key: String) throws(TransportError) -> NIOSSLContext {
    let certificates: [NIOSSLCertificate]
    do { certificates = try NIOSSLCertificate.fromPEMFile(chain) } catch {
      throw TransportError(.badCertificate, "'\(chain)' has no certificates that can be read.")
    }
    let privateKey: NIOSSLPrivateKey
    do { privateKey = try NIOSSLPrivateKey(file: key, format: .pem) } catch {
      throw TransportError(.badCertificate, "'\(key)' has no private key that can be read.")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(privateKey))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw TransportError(.badCertificate, "The key '\(key)' does not belong to the first certificate of '\(chain)'.")
    }
  }
}
#endif
