#if Sync
import Foundation
import Logging
import SyncEvents
import SyncProtocol
import SyncServer
import SyncTokens
import SyncWebSocket

/// A server that listens: the host of its stores, its routes, and what it does by itself now and then.
final class RunningServer: Sendable {
  private let settings: ServeSettings
  private let backend: ServerBackend
  private let logger: Logger
  private let host: SyncHost
  private let listener: WebSocketListener
  private let certificate: ServerCertificate?
  private let verifier: TokenVerifier
  private let events: ServerEvents

  /// Listens from now on.
  init(_ settings: ServeSettings, _ backend: ServerBackend, _ logger: Logger) async throws {
    (self.settings, self.backend, self.logger) = (settings, backend, logger)
    let issuer = try TokenIssuer(key: backend.tokenKey)
    let verifier = try await TokenVerifier(issuer, outside: try settings.issuers.map(RunningServer.outside))
    self.verifier = verifier
    var configuration = ServerConnectionConfiguration()
    configuration.storesOfUser = settings.storesOfUser
    configuration.replicasOfUser = settings.devicesOfUser ?? configuration.replicasOfUser
    configuration.bytesOfStore = settings.megabytesOfStore.map { $0 << 20 }
    let access = DirectoryAccess(backend.directory, verifier)
    let host = SyncHost(stores: backend.stores, access: access, configuration: configuration, logger: logger)
    self.host = host
    var accountOptions = Accounts.Options()
    (accountOptions.triesPerMinute, accountOptions.allowsRegistration) = (settings.loginTries, settings.registration)
    let accounts = Accounts(
      backend.directory, issuer, stores: backend.stores, options: accountOptions, ended: { await host.expel(login: $0) })
    let events = ServerEvents(backend.stores)
    self.events = events
    let routes = ServerRoutes(
      host, backend.directory, accounts, backUp: backend.backUp, metrics: { events.counts.metrics })
    var permissions = ServerEvents.PermissionOptions(hash: Secret.hash)
    permissions.allowsUnknownUsers = !settings.issuers.isEmpty
    permissions.changed = { await host.recheck() }
    try await events.handlePermissions(of: backend.directory, permissions)
    certificate = try RunningServer.certificate(settings)
    var options = WebSocketListener.Options()
    options.certificate = certificate
    options.isBehindProxy = settings.behindProxy
    options.limits.connections = settings.connections
    options.limits.connectionsOfAddress = settings.connectionsOfAddress
    options.notice = { logger.notice("\($0)") }
    options.answer = { request in
      let answer = await routes.answer(to: request)
      let about: Logger.Metadata = [
        "method": "\(request.method)", "path": "\(request.path)", "status": "\(answer.status)", "address": "\(request.address)",
      ]
      logger.log(level: answer.status < 400 ? .debug : .notice, "A request was answered.", metadata: about)
      return answer
    }
    listener = try await WebSocketListener(host: settings.host, port: settings.port, options: options)
  }

  /// Where it is reached.
  var address: String {
    let name = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
    return "\(certificate == nil ? "ws" : "wss")://\(name):\(listener.port)"
  }

  private static func certificate(_ settings: ServeSettings) throws -> ServerCertificate? {
    switch (settings.certificate, settings.key) {
    case (let chain?, let key?): return try ServerCertificate(chain: chain, key: key)
    case (nil, nil): return nil
    default: throw Trouble("A certificate and its key belong together: say both, or none.")
    }
  }

  /// `NAME=FILE`
  private static func outside(_ text: String) throws -> TokenVerifier.Outside {
    // A name may be an address, which has no "=" before its file.
    guard let equals = text.lastIndex(of: "="), equals != text.startIndex else {
      throw Trouble("An issuer is 'NAME=FILE', and not '\(text)'.")
    }
    let path = String(text[text.index(after: equals)...])
    guard let keys = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw Trouble("The issuer '\(text[..<equals])' has no keys in '\(path)': is the file there, and readable for this user?")
    }
    return TokenVerifier.Outside(name: String(text[..<equals]), keys: keys)
  }

  // MARK: running

  /// Serves until it is ended.
  func run() async throws {
    logger.info("The server began.", metadata: ["address": "\(address)"])
    let (host, events) = (host, events)
    let upkeep = [Task { await forgetHourly() }, Task { await watchUsers() }, Task { await logEvents() }]
    let handling = Task { await events.run() }
    var failure: TransportError?
    do throws(TransportError) { try await listener.run { transport in await host.serve(transport) } } catch { failure = error }
    upkeep.forEach { $0.cancel() }
    handling.cancel()
    await handling.value
    try await backend.finish()
    if let failure { throw failure }
    logger.info("The server ended.")
  }

  /// Tells everybody to come back soon, and ends.
  func end() async {
    await host.leave(comeBackAfter: 2)
    await listener.close()
  }

  /// Takes the files of the certificate, and of the issuers' keys, as they are now. What cannot be used stays as it was.
  func reload() async {
    if let certificate {
      do throws(TransportError) {
        try certificate.reload()
        logger.notice("The certificate was read again.")
      } catch { logger.error("The certificate stays as it was.", metadata: ["why": "\(error)"]) }
    }
    if settings.issuers.isEmpty { return }
    do {
      try await verifier.trust(try settings.issuers.map(RunningServer.outside))
      logger.notice("The issuers' keys were read again.")
    } catch { logger.error("The issuers' keys stay as they were.", metadata: ["why": "\(error)"]) }
  }

  // MARK: upkeep

  /// Once an hour all replicas forget what nobody needs any more.
  private func forgetHourly() async {
    while true {
      do { try await Task.sleep(for: .seconds(3600)) } catch { return }
      let expiry = Int64(Date().timeIntervalSince1970 * 1000) - Int64(settings.forgetAfter) * 86_400_000
      do throws(ServerStoreError) {
        for (path, error) in try await backend.stores.forget(expiry: expiry) {
          logger.error("A store could forget nothing.", metadata: ["store": "\(path)", "why": "\(error)"])
        }
      } catch { logger.error("Nothing could be forgotten.", metadata: ["why": "\(error)"]) }
    }
  }

  /// What keeps the server's own handlers from what they are to do.
  private func logEvents() async {
    for await notice in events.notices() {
      switch notice {
      case .dealt: continue
      case .leaseLost(let handler, let store):
        logger.warning("A handler lost a store's lease, and begins anew.", metadata: ["handler": "\(handler)", "store": "\(store)"])
      case .removed(let handler, let store):
        logger.warning("A handler was removed, and goes on there no more.", metadata: ["handler": "\(handler)", "store": "\(store)"])
      case .unavailable(let handler, let error): logger.error("A handler waits.", metadata: ["handler": "\(handler)", "why": "\(error)"])
      case .failed(let handler, let store, let attempt, let error):
        logger.error(
          "A handler failed.", metadata: ["handler": "\(handler)", "store": "\(store)", "attempt": "\(attempt)", "why": "\(error)"])
      case .gaveUp(let handler, let store, let number, _), .missed(let handler, let store, let number):
        logger.error("Events were passed over.", metadata: ["handler": "\(handler)", "store": "\(store)", "up to": "\(number)"])
      }
    }
  }

  /// The shell and other servers change users too.
  private func watchUsers() async {
    var known: UInt64?
    while true {
      do throws(ServerStoreError) {
        let revision = try await backend.directory.revision()
        if let known, known != revision { await host.recheck() }
        known = revision
      } catch { logger.error("The users cannot be read.", metadata: ["why": "\(error)"]) }
      do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
    }
  }
}
#endif
