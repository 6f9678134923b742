#if Sync && os(Linux)
import Foundation
import Synchronization

/// Carries packets between the tunnels of devices and of servers, each device's as its weather has it, on a thread of its own.
///
/// What a device sends goes to the server that it is led to. What any server sends to a device goes there: one that the device left still
/// reaches it, as after a fail-over, and the device's answer reaches the new one, which knows nothing of it and ends the connection.
/// Devices do not reach each other. **Threads.** Any may call.
final class PacketRouter: Sendable {
  private struct Route {
    var weather = PacketWeather()
    var server = 0
  }

  private struct State {
    var routes: [Route]
    var isOver = false
    var counts = PacketCounts()
  }

  /// Packets that are taken from one tunnel before it is the others' turn.
  private static let turn = 64
  /// Milliseconds after which it looks whether it is over, if nothing comes.
  private static let patience: Int32 = 50

  /// First of the servers, then of the devices.
  private let tunnels: [TunnelDevice]
  private let servers: Int
  private let state: Mutex<State>
  private let over = DispatchSemaphore(value: 0)

  /// All devices are led to the first server, in calm weather. It has to be ended.
  ///
  /// - Parameter seed: of what happens to packets; which ones there are, and when, is the system's.
  init(servers: [TunnelDevice], devices: [TunnelDevice], seed: UInt64) {
    (tunnels, self.servers) = (servers + devices, servers.count)
    state = Mutex(State(routes: devices.map { _ in Route() }))
    Thread.detachNewThread { [self] in run(seed) }
  }

  /// Ends it, and says what it has carried. Once.
  func end() -> PacketCounts {
    state.withLock { $0.isOver = true }
    over.wait()
    return state.withLock { $0.counts }
  }

  func lead(_ device: Int, to server: Int) { state.withLock { $0.routes[device].server = server } }

  /// The server that a device is led to.
  func server(of device: Int) -> Int { state.withLock { $0.routes[device].server } }

  func setWeather(_ weather: PacketWeather, of device: Int) { state.withLock { $0.routes[device].weather = weather } }

  // MARK: its thread

  private func run(_ seed: UInt64) {
    var files = tunnels.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    var underway = PacketsUnderway(seed: seed)
    var buffer = [UInt8](repeating: 0, count: TunnelDevice.packetBytes)
    while !state.withLock({ $0.isOver }) {
      let found = poll(&files, nfds_t(files.count), underway.pause(atMost: PacketRouter.patience))
      if found > 0 {
        for number in files.indices where files[number].revents != 0 {
          for _ in 0..<PacketRouter.turn {
            guard let packet = tunnels[number].take(&buffer) else { break }
            pass(packet, from: number, &underway)
          }
        }
      }
      let now = ContinuousClock.now
      while let (bytes, tunnel) = underway.next(at: now) { tunnels[tunnel].put(bytes) }
    }
    state.withLock { $0.counts = underway.counts }
    over.signal()
  }

  private func pass(_ packet: ArraySlice<UInt8>, from number: Int, _ underway: inout PacketsUnderway) {
    let sender = number - servers
    switch NamespaceAddress.receiver(of: packet) {
    case .server where sender >= 0:
      let route = state.withLock { $0.routes[sender] }
      underway.send(packet, to: route.server, .init(device: sender, direction: .toServer), route.weather, now: .now)
    case .device(let device) where sender < 0 && device < tunnels.count - servers:
      let weather = state.withLock { $0.routes[device].weather }
      underway.send(packet, to: servers + device, .init(device: device, direction: .toDevice), weather, now: .now)
    default: break
    }
  }
}
#endif
