import SyncModel

/// Decodes bytes to messages: joins their parts and inflates them, within limits whatever the bytes are. Each direction of a connection
/// has one; after an error the connection must be closed.
public struct FrameDecoder: Sendable {
  /// The limits of what is accepted. They may be raised while the connection lasts.
  public var limits: FrameLimits
  /// Whether messages may be compressed. A server refuses it until both sides have agreed to it.
  public var inflates = true
  private var begun: (frame: SyncFrame, flags: UInt8)?

  /// Creates a decoder for a new connection.
  public init(_ limits: FrameLimits = FrameLimits()) { self.limits = limits }

  /// Whether the last part received is to be continued.
  public var isInside: Bool { begun != nil }

  /// Takes a received part; returns the message when the part is its last. O(size).
  public mutating func take(_ part: [UInt8]) throws(FrameError) -> SyncFrame? {
    var reader = ByteReader(part)
    let (type, flags, session) = try FrameDecoder.head(&reader)
    guard flags & ~(SyncFrame.isCompressed | SyncFrame.isContinued) == 0 else {
      throw FrameError(.badFrame, "The flags \(flags) mean nothing.")
    }
    guard inflates || flags & SyncFrame.isCompressed == 0 else {
      throw FrameError(.badFrame, "A message is compressed, and nobody has agreed to that.")
    }
    guard part.count <= limits.partBytes + 16 else {
      throw FrameError(.limitExceeded, "A part has \(part.count) bytes, and \(limits.partBytes) are taken.")
    }
    let isContinued = flags & SyncFrame.isContinued != 0
    if let (frame, first) = begun {
      guard frame.type == type, frame.session == session, first & SyncFrame.isCompressed == flags & SyncFrame.isCompressed else {
        throw FrameError(.outOfOrder, "Another message came inside one of several parts.")
      }
    } else {
      begun = (SyncFrame(type: type, session: session), flags)
    }
    // A sequence of empty parts could go on for ever.
    guard !isContinued || reader.left > 0 else { throw FrameError(.badFrame, "A part that is followed by another is empty.") }
    guard (begun?.frame.body.count ?? 0) + reader.left <= limits.messageBytes else {
      throw FrameError(.limitExceeded, "A message has more than \(limits.messageBytes) bytes.")
    }
    begun?.frame.body += part[reader.position...]
    guard !isContinued, var frame = begun?.frame else { return nil }
    begun = nil
    guard flags & SyncFrame.isCompressed != 0 else { return frame }
    let most = min(limits.messageBytes, max(Compression.alwaysAllowed, frame.body.count * limits.inflationMax))
    frame.body = try Compression.inflated(frame.body, most: most)
    return frame
  }

  private static func head(_ reader: inout ByteReader) throws(FrameError) -> (type: UInt8, flags: UInt8, session: UInt32) {
    do throws(CodingError) {
      let (type, flags) = (try reader.byte(), try reader.byte())
      guard let session = UInt32(exactly: try reader.number()) else { throw reader.error(.number) }
      return (type, flags, session)
    } catch { throw FrameError(.badFrame, "\(error.reason) at byte \(error.position) of the head.") }
  }
}
