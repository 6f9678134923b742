import SyncModel

/// Encodes messages to bytes, in parts of limited size.
public struct FrameEncoder: Sendable {
  /// The limits of what the other side accepts.
  public let limits: FrameLimits
  /// Whether both sides have agreed to compression.
  public var compresses: Bool
  /// Shared with others who send the same; nil if nobody does.
  private let bodies: CompressedBodies?

  /// Creates an encoder; it has no other state.
  public init(_ limits: FrameLimits = FrameLimits(), compresses: Bool = false) {
    self.init(limits, compresses: compresses, sharing: nil)
  }

  /// Creates an encoder that looks for what others have compressed.
  package init(_ limits: FrameLimits, compresses: Bool = false, sharing bodies: CompressedBodies?) {
    (self.limits, self.compresses, self.bodies) = (limits, compresses, bodies)
  }

  /// The parts of a frame, to be sent one right after the other. O(size). Throws `.limitExceeded` for a message that is too long.
  public func parts(of frame: SyncFrame) throws(FrameError) -> [[UInt8]] {
    guard frame.body.count <= limits.messageBytes else {
      throw FrameError(.limitExceeded, "It has \(frame.body.count) bytes, and \(limits.messageBytes) are taken.")
    }
    var body = frame.body
    var flags: UInt8 = 0
    if compresses, body.count >= limits.compressedFrom, let packed = deflated(body), packed.count < body.count,
      body.count <= packed.count * limits.inflationMax || body.count <= Compression.alwaysAllowed
    {
      (body, flags) = (packed, SyncFrame.isCompressed)
    }
    var parts: [[UInt8]] = []
    var start = 0
    repeat {
      let end = min(body.count, start + limits.partBytes)
      var writer = ByteWriter()
      writer.put(byte: frame.type)
      writer.put(byte: end < body.count ? flags | SyncFrame.isContinued : flags)
      writer.put(UInt64(frame.session))
      writer.put(raw: body[start..<end])
      parts.append(writer.bytes)
      start = end
    } while start < body.count
    return parts
  }

  private func deflated(_ body: [UInt8]) -> [UInt8]? {
    if let bodies { bodies.deflated(body) } else { Compression.deflated(body) }
  }
}
