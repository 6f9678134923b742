import ArgumentParser
import SyncClient
import SyncProtocol
import SyncWebSocket

/// How a list is kept the same on other devices.
struct OtherDevices: ParsableArguments {
  @Option(help: "Keeps the list the same on other devices, by a server: ws://127.0.0.1:9480.") var sync: String?
  @Option(help: "Who you are to the server: what 'vivarium-server user add' has printed.") var token: String?
  @Option(help: "The list's place on the server; '/~/' is your own.") var place = "/~/tasks"

  func validate() throws {
    if sync != nil, token == nil { throw ValidationError("'--sync' needs '--token': who you are to the server.") }
  }

  /// nil where the list is of this machine alone.
  func configuration() throws -> SyncConfiguration? {
    guard let sync, let token else { return nil }
    #if Sync
    let connector = try WebSocketConnector(sync)
    var configuration = SyncConfiguration(user: FixedToken(token), path: place, connector: connector, existing: .merge)
    configuration.options.longestDelay = .seconds(5)
    return configuration
    #else
    throw ValidationError("This build reaches no server: build it with the trait 'Sync' ('\(sync)', \(token.count) characters of token).")
    #endif
  }
}
