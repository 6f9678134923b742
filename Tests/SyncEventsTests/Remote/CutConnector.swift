import SyncProtocol
import Synchronization
import VivariumTestSupport

/// Connections that, between `cut` and `mend`, end after a random number of parts, in the middle of anything.
final class CutConnector: SyncConnector {
  private let base: any SyncConnector
  private let random: Mutex<SeededGenerator>
  private let switching = Switch()
  private let most: Int
  private let made = Atomic(0)

  /// - Parameter most: the most parts of a connection.
  init(_ base: any SyncConnector, _ random: SeededGenerator, most: Int) {
    (self.base, self.most) = (base, most)
    self.random = Mutex(random)
  }

  /// How many connections were made.
  var count: Int { made.load(ordering: .relaxed) }

  func cut() { switching.isOn.store(true, ordering: .relaxed) }
  func mend() { switching.isOn.store(false, ordering: .relaxed) }

  func connect() async throws(TransportError) -> any SyncTransport {
    made.wrappingAdd(1, ordering: .relaxed)
    let parts = random.withLock { $0.below(most) }
    return CutTransport(try await base.connect(), parts) { [switching] in switching.isOn.load(ordering: .relaxed) }
  }
}

private final class Switch: Sendable {
  let isOn = Atomic(false)
}

private final class CutTransport: SyncTransport {
  private let base: any SyncTransport
  private let left: Mutex<Int>
  private let isCutting: @Sendable () -> Bool

  init(_ base: any SyncTransport, _ parts: Int, _ isCutting: @escaping @Sendable () -> Bool) {
    (self.base, self.isCutting) = (base, isCutting)
    left = Mutex(parts)
  }

  /// Whether the connection lasts for one part more.
  private func lasts() async -> Bool {
    guard isCutting() else { return true }
    let isOver = left.withLock { left in
      left -= 1
      return left < 0
    }
    if isOver { await base.close() }
    return !isOver
  }

  func receive() async throws(TransportError) -> [UInt8]? {
    let part = try await base.receive()
    // The other side has sent it, and believes that it came.
    return await lasts() ? part : nil
  }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    for part in parts {
      guard await lasts() else { throw TransportError(.closed, "It was cut.") }
      try await base.send([part])
    }
  }

  func close() async { await base.close() }
}
