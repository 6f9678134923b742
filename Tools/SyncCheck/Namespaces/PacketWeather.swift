#if Sync && os(Linux)
/// Which way a packet goes.
enum PacketDirection: Hashable, Sendable { case toServer, toDevice }

/// What happens to the packets of a device.
struct PacketWeather: Sendable {
  /// One time that a packet arrives.
  struct Arrival: Sendable {
    /// Milliseconds from now.
    let delay: Int
    /// Whether those behind it may arrive before it.
    let isHeldBack: Bool
  }

  /// Milliseconds that each waits, in its turn.
  var delay = 0...0
  /// The share of those that never arrive.
  var loss = 0.0
  /// The share of those that are held back until others are past.
  var reordering = 0.0
  /// The share of those that arrive once more, later.
  var doubling = 0.0
  /// Where nothing gets through, and nobody is told.
  var parted: Set<PacketDirection> = []

  /// Milliseconds more for who is held back.
  private static let more = 2...60

  /// When a packet arrives, mostly once; empty: it is lost.
  func arrivals(_ direction: PacketDirection, _ random: inout SplitMix) -> [Arrival] {
    if parted.contains(direction) || Double.random(in: 0..<1, using: &random) < loss { return [] }
    func late() -> Int { Int.random(in: delay, using: &random) + Int.random(in: PacketWeather.more, using: &random) }
    let isHeldBack = Double.random(in: 0..<1, using: &random) < reordering
    let first = Arrival(delay: isHeldBack ? late() : Int.random(in: delay, using: &random), isHeldBack: isHeldBack)
    guard Double.random(in: 0..<1, using: &random) < doubling else { return [first] }
    return [first, Arrival(delay: late(), isHeldBack: true)]
  }

  /// A weather of any kind, the calm included.
  static func drawn(_ random: inout SplitMix) -> PacketWeather {
    var weather = PacketWeather()
    switch Int.random(in: 0..<8, using: &random) {
    case 0: weather.parted = [.toServer, .toDevice]
    case 1: weather.parted = [Bool.random(using: &random) ? .toServer : .toDevice]
    case 2: weather.delay = 1...30
    case 3: (weather.delay, weather.reordering) = (20...200, 0.1)
    case 4: (weather.delay, weather.loss) = (1...10, Double.random(in: 0.02...0.3, using: &random))
    case 5: (weather.delay, weather.reordering, weather.doubling) = (1...15, 0.25, 0.1)
    case 6: (weather.delay, weather.loss, weather.reordering, weather.doubling) = (5...60, 0.1, 0.1, 0.05)
    default: break
    }
    return weather
  }
}
#endif
