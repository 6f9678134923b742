#if Sync
import ArgumentParser
import Foundation
import Logging
import SyncServer

/// `vivarium-server serve`
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Serves until it is told to end by SIGTERM or SIGINT.",
    discussion: """
      With a certificate it speaks TLS. Without one it listens on this machine alone, unless a proxy that speaks TLS is before it. The \
      files of the certificate and of issuers' keys are read again on SIGHUP. What is set here can be in a file too (--settings), as lines \
      of 'name = value'; flags win.
      """)

  @Option(help: "A file of settings.") var settings: String?
  @Option(help: "The folder of what the server keeps.") var folder: String?
  @Option(help: "In place of a folder, a PostgreSQL database, as libpq takes it. Several servers may serve one.") var postgres: String?
  @Option(help: "Where to listen. (default: 127.0.0.1)") var host: String?
  @Option(help: "0 has the system choose. (default: 9480)") var port: Int?
  @Flag(help: "Listens in plain text also where others could read along: a proxy with TLS is before it.") var behindProxy = false
  @Option(help: "A PEM file: the server's certificate, and those that lead to its root.") var certificate: String?
  @Option(help: "A PEM file: the certificate's key.") var key: String?
  @Option(help: "Days after which a device that was away begins anew. (default: 60)") var forgetAfter: Int?
  @Option(help: "Trusts tokens of another issuer: NAME=FILE, with its keys as a JWKS. May be said several times.") var issuer: [String] = []
  @Flag(help: "Lets anybody make himself a user.") var registration = false
  @Option(help: "Tries to log in, a minute, for one name and from one address. (default: 5)") var loginTries: Int?
  @Option(help: "Connections at one time. (default: 10000)") var connections: Int?
  @Option(help: "Connections from one address. (default: 1000)") var connectionsPerAddress: Int?
  @Option(help: "Stores that a user can make below his name, beside his management store. (default: any number)") var storesPerUser: Int?
  @Option(help: "Devices that a user can have at one store. (default: 10000)") var devicesPerUser: Int?
  @Option(help: "Megabytes of one store, its log included. (default: any number)") var megabytesPerStore: Int?
  @Option(help: "One of trace, debug, info, notice, warning, error, critical. (default: info)") var logLevel: Logger.Level?

  func validate() throws {
    let numbers: [(setting: NumberSetting, value: Int?)] = [
      (.port, port), (.forgetAfter, forgetAfter), (.loginTries, loginTries), (.connections, connections),
      (.connectionsPerAddress, connectionsPerAddress), (.storesPerUser, storesPerUser),
      (.devicesPerUser, devicesPerUser), (.megabytesPerStore, megabytesPerStore),
    ]
    for (setting, value) in numbers {
      let range = setting.range
      guard let value, !range.contains(value) else { continue }
      throw ValidationError(
        "'--\(setting.rawValue)' is a number from \(range.lowerBound) to \(range.upperBound), and not '\(value)'.")
    }
  }

  func run() async throws {
    // Whoever reads the log may be started anew meanwhile.
    signal(SIGPIPE, SIG_IGN)
    let settings = try merged()
    let place = try ServerPlace(folder: settings.folder, postgres: settings.postgres)
    let logger = ServerLog.logger(settings.logLevel)
    let server = try await RunningServer(settings, try await ServerBackend(place), logger)
    var signals = SignalWatch()
    await signals.on([SIGTERM, SIGINT]) { await server.end() }
    await signals.on([SIGHUP]) { await server.reload() }
    // Whoever reads it may end the server at once.
    print("Serving \(place.name) at \(server.address)")
    fflush(nil)
    try await server.run()
    signals.end()
    print("Ended.")
  }

  private func merged() throws -> ServeSettings {
    var merged = try ServeSettings(try settings.map { try SettingsFile(path: $0) })
    if folder != nil || postgres != nil { (merged.folder, merged.postgres) = (folder, postgres) }
    merged.host = host ?? merged.host
    merged.port = port ?? merged.port
    merged.behindProxy = behindProxy || merged.behindProxy
    merged.certificate = certificate ?? merged.certificate
    merged.key = key ?? merged.key
    merged.forgetAfter = forgetAfter ?? merged.forgetAfter
    if !issuer.isEmpty { merged.issuers = issuer }
    merged.registration = registration || merged.registration
    merged.loginTries = loginTries ?? merged.loginTries
    merged.connections = connections ?? merged.connections
    merged.connectionsOfAddress = connectionsPerAddress ?? merged.connectionsOfAddress
    merged.storesOfUser = storesPerUser ?? merged.storesOfUser
    merged.devicesOfUser = devicesPerUser ?? merged.devicesOfUser
    merged.megabytesOfStore = megabytesPerStore ?? merged.megabytesOfStore
    merged.logLevel = logLevel ?? merged.logLevel
    return merged
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
#endif
