#if Sync
import Logging

/// How a server is run: what its flags say, and else its file, and else the usual.
struct ServeSettings {
  var folder: String?
  var postgres: String?
  var host = "127.0.0.1"
  var port = 9480
  var behindProxy = false
  var certificate: String?
  var key: String?
  var forgetAfter = 60
  var issuers: [String] = []
  var registration = false
  var loginTries = 5
  var connections = 10_000
  var connectionsOfAddress = 1_000
  var storesOfUser: Int?
  var devicesOfUser: Int?
  var megabytesOfStore: Int?
  var logLevel = Logger.Level.info

  /// What a file may set, by the names of the flags.
  private static let names = [
    "folder", "postgres", "host", "port", "behind-proxy", "certificate", "key", "forget-after", "issuer", "registration", "login-tries",
    "connections", "connections-per-address", "stores-per-user", "devices-per-user", "megabytes-per-store", "log-level",
  ]

  /// The usual, with what a file says in its place.
  init(_ file: SettingsFile?) throws {
    for entry in file?.entries ?? [] {
      switch entry.name {
      case "folder": folder = entry.value
      case "postgres": postgres = entry.value
      case "host": host = entry.value
      case "port": port = try entry.number(NumberSetting.port.range)
      case "behind-proxy": behindProxy = try entry.truth()
      case "certificate": certificate = entry.value
      case "key": key = entry.value
      case "forget-after": forgetAfter = try entry.number(NumberSetting.forgetAfter.range)
      case "issuer": issuers.append(entry.value)
      case "registration": registration = try entry.truth()
      case "login-tries": loginTries = try entry.number(NumberSetting.loginTries.range)
      case "connections": connections = try entry.number(NumberSetting.connections.range)
      case "connections-per-address": connectionsOfAddress = try entry.number(NumberSetting.connectionsPerAddress.range)
      case "stores-per-user": storesOfUser = try entry.number(NumberSetting.storesPerUser.range)
      case "devices-per-user": devicesOfUser = try entry.number(NumberSetting.devicesPerUser.range)
      case "megabytes-per-store": megabytesOfStore = try entry.number(NumberSetting.megabytesPerStore.range)
      case "log-level":
        guard let level = Logger.Level(rawValue: entry.value) else {
          throw Trouble("\(entry.place): 'log-level' is one of \(Logger.Level.names), and not '\(entry.value)'.")
        }
        logLevel = level
      default: throw Trouble("\(entry.place): '\(entry.name)' is no setting. There are: \(ServeSettings.names.joined(separator: ", ")).")
      }
    }
  }
}

/// The settings that are numbers, by the names of the flags. In a file and as flags they have the same ranges.
enum NumberSetting: String {
  case port
  case forgetAfter = "forget-after"
  case loginTries = "login-tries"
  case connections
  case connectionsPerAddress = "connections-per-address"
  case storesPerUser = "stores-per-user"
  case devicesPerUser = "devices-per-user"
  case megabytesPerStore = "megabytes-per-store"

  var range: ClosedRange<Int> {
    switch self {
    case .port: 0...65535
    case .forgetAfter: 1...3650
    case .loginTries: 1...1000
    case .connections, .connectionsPerAddress, .storesPerUser, .devicesPerUser, .megabytesPerStore: 1...1_000_000
    }
  }
}

extension Logger.Level {
  static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
#endif
