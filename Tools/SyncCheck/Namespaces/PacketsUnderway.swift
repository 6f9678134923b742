#if Sync && os(Linux)
/// What became of packets.
struct PacketCounts: Sendable {
  /// That arrived, once or more.
  var carried = 0
  var lost = 0
  /// That arrived behind others that were sent after them, or might have.
  var heldBack = 0
  /// That arrived more than once.
  var doubled = 0
}

/// Packets on their way, by the time at which they arrive; those of one time as they were sent.
struct PacketsUnderway {
  /// What goes one way from or to one device: its packets keep their order, but for those that are held back.
  struct Lane: Hashable {
    let device: Int
    let direction: PacketDirection
  }

  private struct Packet {
    let bytes: [UInt8]
    let tunnel: Int
    let time: ContinuousClock.Instant
  }

  private(set) var counts = PacketCounts()
  /// The next one is the last.
  private var packets: [Packet] = []
  /// When the last packet of a lane arrives that keeps its turn.
  private var turns: [Lane: ContinuousClock.Instant] = [:]
  private var random: SplitMix

  init(seed: UInt64) { random = SplitMix(state: seed) }

  /// Sends a packet to a tunnel, or loses it, as the weather has it. In time O(packets on their way).
  mutating func send(
    _ bytes: ArraySlice<UInt8>, to tunnel: Int, _ lane: Lane, _ weather: PacketWeather, now: ContinuousClock.Instant
  ) {
    let arrivals = weather.arrivals(lane.direction, &random)
    if arrivals.isEmpty { counts.lost += 1 } else { counts.carried += 1 }
    if arrivals.count > 1 { counts.doubled += 1 }
    if let first = arrivals.first, first.isHeldBack { counts.heldBack += 1 }
    for arrival in arrivals {
      var time = now + .milliseconds(arrival.delay)
      if !arrival.isHeldBack {
        // Who was slower before keeps who comes after it waiting.
        if let before = turns[lane] { time = max(time, before) }
        turns[lane] = time
      }
      insert(Packet(bytes: Array(bytes), tunnel: tunnel, time: time))
    }
  }

  private mutating func insert(_ packet: Packet) {
    var (low, high) = (0, packets.count)
    while low < high {
      let middle = (low + high) / 2
      if packets[middle].time > packet.time { low = middle + 1 } else { high = middle }
    }
    packets.insert(packet, at: low)
  }

  /// The next packet whose time has come, and where it arrives.
  mutating func next(at now: ContinuousClock.Instant) -> (bytes: [UInt8], tunnel: Int)? {
    guard let packet = packets.last, packet.time <= now else { return nil }
    packets.removeLast()
    return (packet.bytes, packet.tunnel)
  }

  /// Milliseconds until the next one arrives.
  func pause(atMost limit: Int32) -> Int32 {
    guard let packet = packets.last else { return limit }
    let left = (packet.time - ContinuousClock.now) / .milliseconds(1)
    return min(limit, max(0, Int32(clamping: Int(left.rounded(.up)))))
  }
}
#endif
