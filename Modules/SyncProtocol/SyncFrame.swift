import SyncModel

/// One message as bytes that are not looked into yet: its type, whom it is for, and its body.
///
/// On the wire: `type u8 | flags u8 | session varint | body`. Flags: 1, the body is compressed by zlib; 2, another part follows. Numbers
/// are LEB128 in their shortest form. Docs/SyncProtocol.md has the whole layout.
public struct SyncFrame: Hashable, Sendable {
  /// Which message it is.
  public var type: UInt8
  /// Whom it is for: a store's session, or 0, the connection.
  public var session: UInt32
  /// What the message says, unpacked and put together.
  public var body: [UInt8]

  /// A frame of its parts.
  public init(type: UInt8, session: UInt32 = 0, body: [UInt8] = []) {
    (self.type, self.session, self.body) = (type, session, body)
  }

  /// Types from here on may be ignored by who does not know them; an unknown one below is an error.
  public static let optionalTypes: UInt8 = 0xC0

  static let isCompressed: UInt8 = 1
  static let isContinued: UInt8 = 2
}

extension SyncFrame {
  /// The message that the body is, to its last byte. `read` gives nil for a type that it does not know: then it is `unknown` where it may
  /// be ignored, and an error otherwise.
  func message<M>(
    unknown: (UInt8) -> M, _ read: (SyncFrame, inout ByteReader) throws(CodingError) -> M?
  ) throws(FrameError) -> M {
    let name = "a message of type 0x" + String(type, radix: 16)
    var reader = ByteReader(body)
    do throws(CodingError) {
      if let message = try read(self, &reader) {
        try reader.end()
        return message
      }
    } catch {
      throw FrameError(.badFrame, "\(error.reason) at byte \(error.position) of \(name).")
    }
    if type >= SyncFrame.optionalTypes { return unknown(type) }
    throw FrameError(.unknownVersion, "\(name.prefix(1).uppercased() + name.dropFirst()) is not known.")
  }
}

/// What a side takes, and how it sends.
public struct FrameLimits: Hashable, Sendable {
  /// The longest part on the wire.
  public var partBytes: Int
  /// The longest message, put together and unpacked.
  public var messageBytes: Int
  /// Shorter bodies are not worth compressing.
  public var compressedFrom: Int
  /// How many times its size a body may become when it is unpacked, beyond what is small anyway.
  public var inflationMax: Int

  /// What clients take: an object with all that it holds has to fit, as it may come in place of its history.
  public static let ofClient = FrameLimits(messageBytes: 256 << 20)

  /// 256 KiB, 16 MiB, 512 bytes, 64 times.
  public init(partBytes: Int = 256 << 10, messageBytes: Int = 16 << 20, compressedFrom: Int = 512, inflationMax: Int = 64) {
    self.partBytes = max(64, partBytes)
    self.messageBytes = max(64, messageBytes)
    self.compressedFrom = max(0, compressedFrom)
    self.inflationMax = max(2, inflationMax)
  }
}

/// Why bytes are no message, or not now.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the other side is told.
  public let code: SyncErrorCode
  /// What was found, and at which byte of the message.
  public let detail: String

  /// An error of what the other side is told, and what was found.
  public init(_ code: SyncErrorCode, _ detail: String) { (self.code, self.detail) = (code, detail) }

  /// What happened, and where.
  public var message: String { "\(code.message) \(detail)" }
  /// What helps.
  public var remedy: String { code.remedy }
  public var description: String { "\(message) \(remedy)" }
}
