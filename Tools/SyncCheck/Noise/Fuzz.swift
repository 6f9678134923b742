#if Sync
import SyncModel
import SyncProtocol
import SyncServer

/// Bytes that no client would send, put to a server's connection: it answers, passes them over or ends, whatever they are, and keeps
/// nothing of them.
///
/// Between them are messages as clients send them, and a host answers what they ask for. So noise comes to sessions that live, while
/// transactions, reads and answers are under way. All of it follows from the seed.
struct Fuzz {
  let frames: Int
  let report: Report
  private var random: SplitMix
  private var host = FuzzHost()
  private var done = 0

  /// By how many bytes the process may grow after a tenth of the frames.
  private static let growthMax = 64 << 20

  init(frames: Int, report: Report, random: SplitMix) { (self.frames, self.report, self.random) = (frames, report, random) }

  mutating func run() {
    var connections = 0
    var warm: Int?
    while done < frames {
      // What is written stays for the next connections, but not for all: a read costs what there is.
      if connections.isMultiple(of: 8) { host.renew(&random) }
      connections += 1
      connect()
      if warm == nil, done >= frames / 10 { warm = OwnMemory.bytes }
    }
    report.count("frames of noise", done)
    report.count("sessions within it", host.bound)
    report.count("changes that were taken from it", host.taken)
    judge(after: warm ?? 0)
  }

  private func judge(after warm: Int) {
    let end = OwnMemory.bytes
    if warm > 0, end > 0 {
      report.say("memory under noise: \(warm >> 10) KiB after a tenth of the frames, \(end >> 10) KiB after all")
      if end > warm + Fuzz.growthMax { report.violation("noise: memory grew from \(warm >> 10) to \(end >> 10) KiB") }
    }
    // Of few frames it may be so by chance.
    if done >= 10_000, host.bound == 0 || host.taken == 0 { report.violation("the noise came to no session that lives") }
  }

  /// A connection from its beginning to its end.
  private mutating func connect() {
    var link = FuzzLink()
    var client = FuzzClient(random: SplitMix(state: random.next()))
    // One part of so many is damaged: where it is one of many, sessions live for long.
    let calm = [1, 4, 16, 64].randomElement(using: &random) ?? 1
    if !random.isOne(of: 8) { put(client.hello(), to: &link, calm, compresses: false) }
    for _ in 0..<64 where !link.isOver && done < frames {
      for message in client.messages(link.sessions, host) { put(message, to: &link, calm, compresses: client.compresses) }
    }
    link.take(.disconnected)
  }

  /// Sends a message, and has the host answer some of what is asked for.
  private mutating func put(_ message: ClientMessage, to link: inout FuzzLink, _ calm: Int, compresses: Bool) {
    for part in parts(message, compresses: compresses && link.isOpen) where !link.isOver && done < frames {
      done += 1
      link.take(.received(random.isOne(of: calm) ? damaged(part) : part))
      if random.isOne(of: 16) { link.disturb(&random) }
      if random.isOne(of: 64) { host.forget(replicas: random.isOne(of: 64)) }
      // The rest is answered while more comes.
      let most = random.below(8)
      link.answer(most, by: &host, &random)
    }
  }

  /// A message in one part or in many, compressed or not.
  private mutating func parts(_ message: ClientMessage, compresses: Bool) -> [[UInt8]] {
    let limits = FrameLimits(partBytes: random.isOne(of: 4) ? 64 : 256 << 10, compressedFrom: 0)
    let encoder = FrameEncoder(limits, compresses: compresses && random.isOne(of: 2))
    do throws(FrameError) { return try encoder.parts(of: message.frame) } catch { return [] }
  }

  /// A part with any damage, or bytes of no kind.
  private mutating func damaged(_ part: [UInt8]) -> [UInt8] {
    if random.isOne(of: 4) { return random.bytes(random.below(300)) }
    var part = part
    for _ in 0...random.below(2) where part.count > 2 {
      switch random.below(6) {
      case 0, 1: part[random.below(part.count)] = UInt8(random.below(256))
      case 2: part.removeLast(random.below(part.count))
      case 3: part.insert(contentsOf: random.bytes(3), at: random.below(part.count + 1))
      // It claims that another part follows, or that none does.
      case 4: part[1] ^= 2
      // It comes to another session.
      default: part[2] = UInt8(random.below(8))
      }
    }
    return part
  }
}

extension SplitMix {
  /// A number from 0 on that is less than another.
  mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &self) }

  /// True once in so many times.
  mutating func isOne(of count: Int) -> Bool { below(count) == 0 }

  /// A number of any size.
  mutating func number() -> UInt64 {
    let bits: UInt64 = next()
    return bits >> UInt64(below(64))
  }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) } }
}
#endif
