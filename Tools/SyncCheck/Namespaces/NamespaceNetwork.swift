#if Sync && os(Linux)
import Foundation

/// A namespace for each server and each device, with real TCP between them over packets that this process carries: late, never, twice, in
/// another order.
final class NamespaceNetwork: FleetNetwork {
  /// A namespace, and the interface through which it reaches the others.
  private struct Site: Sendable {
    let namespace: NetworkNamespace
    let tunnel: TunnelDevice

    init(_ number: Int, address: String) throws {
      let namespace = try NetworkNamespace(number)
      do {
        // Short: the name of an interface has 15 characters at most.
        let tunnel = try TunnelDevice("sc\(getpid())n\(number)")
        try IPProgram.run(["link", "set", tunnel.name, "netns", namespace.name])
        try namespace.ip("addr", "add", "\(address)/\(NamespaceAddress.sharedBits)", "dev", tunnel.name)
        try namespace.ip("link", "set", "lo", "up")
        try namespace.ip("link", "set", tunnel.name, "up")
        (self.namespace, self.tunnel) = (namespace, tunnel)
      } catch {
        try? namespace.remove()
        throw error
      }
    }
  }

  private let servers: [Site]
  private let devices: [Site]
  private let router: PacketRouter

  /// Why there can be none here, in a line; nil where there can. Removes what checks that were killed have left.
  static func obstacle() -> String? {
    do {
      try NetworkNamespace.removeLeftovers()
      let trial = try Site(0, address: NamespaceAddress.server)
      do { try IPProgram.run(Array(trial.namespace.command.dropFirst()) + ["true"]) } catch {
        try? trial.namespace.remove()
        throw error
      }
      try trial.namespace.remove()
      return nil
    } catch { return "\(error)" }
  }

  /// Makes the namespaces: some fifty milliseconds for each. It has to be ended.
  init(servers: Int, devices: Int, seed: UInt64) throws {
    var sites: [Site] = []
    do {
      for number in 0..<servers + devices {
        let address = number < servers ? NamespaceAddress.server : NamespaceAddress.device(number - servers)
        sites.append(try Site(number, address: address))
      }
    } catch {
      for site in sites { try? site.namespace.remove() }
      throw error
    }
    let (ofServers, ofDevices) = (Array(sites[..<servers]), Array(sites[servers...]))
    (self.servers, self.devices) = (ofServers, ofDevices)
    router = PacketRouter(servers: ofServers.map(\.tunnel), devices: ofDevices.map(\.tunnel), seed: seed)
  }

  /// Kills who still runs in the namespaces, removes them, and counts what was carried. Once.
  func end(_ report: Report) {
    let counts = router.end()
    for site in servers + devices {
      do { try site.namespace.remove() } catch { report.say("The namespace '\(site.namespace.name)' stays: \(error)") }
    }
    report.count("packets carried", counts.carried)
    report.count("packets lost", counts.lost)
    report.count("packets held back", counts.heldBack)
    report.count("packets doubled", counts.doubled)
  }

  func startServer(_ arguments: [String], at number: Int) throws -> ChildProcess {
    try ChildProcess(
      arguments + ["--host", NamespaceAddress.server, "--port", "\(NamespaceAddress.port)"], through: servers[number].namespace.command)
  }

  func link(ofDevice number: Int, to server: ServerPlace) async throws -> any DeviceLink {
    router.lead(number, to: server.number)
    return PacketLink(router: router, device: number, command: devices[number].namespace.command)
  }
}

/// What leads a device in a namespace to a server.
private struct PacketLink: DeviceLink {
  let router: PacketRouter
  let device: Int
  /// Starts a program in the device's namespace.
  let command: [String]

  func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(
      arguments + ["--url", "ws://\(NamespaceAddress.server):\(NamespaceAddress.port)", "--allows-plain-text"], remembered: ["wrote"],
      through: command)
  }

  func leads(to server: ServerPlace) -> Bool { router.server(of: device) == server.number }

  func lead(to server: ServerPlace) { router.lead(device, to: server.number) }

  /// The system of the other server does it, at the next packet: it ends connections that it does not know.
  func hangUp() {}

  func changeWeather(_ random: inout SplitMix) { router.setWeather(.drawn(&random), of: device) }

  /// Nothing is cut: TCP has to find its way back by itself.
  func calm() { router.setWeather(PacketWeather(), of: device) }

  func end() async {}
}
#endif
