import SyncModel

/// One message whose body is not decoded yet.
///
/// On the wire: `type u8 | flags u8 | session varint | body`. Flags: 1, the body is compressed by zlib; 2, another part follows. Numbers
/// are LEB128 in their shortest form. Docs/SyncProtocol.md has the whole layout.
public struct SyncFrame: Hashable, Sendable {
  /// The type of the message.
  public var type: UInt8
  /// A store's session, or 0 for the connection.
  public var session: UInt32
  /// The content of the message, inflated and with all parts joined.
  public var body: [UInt8]

  /// Creates a frame.
  public init(type: UInt8, session: UInt32 = 0, body: [UInt8] = []) {
    (self.type, self.session, self.body) = (type, session, body)
  }

  /// Unknown types from this one on are ignored; an unknown type below it is an error.
  public static let optionalTypes: UInt8 = 0xC0

  static let isCompressed: UInt8 = 1
  static let isContinued: UInt8 = 2
}

extension SyncFrame {
  /// Decodes the whole body as a message. `read` returns nil for a type that it does not know; the message is then `unknown` if it may be
  /// ignored, otherwise an error is thrown.
  func message<M>(
    unknown: (UInt8) -> M, _ read: (SyncFrame, inout ByteReader) throws(CodingError) -> M?
  ) throws(FrameError) -> M {
    let message = try decoded { reader throws(CodingError) -> M? in
      guard let message = try read(self, &reader) else { return nil }
      try reader.end()
      return message
    }
    if let message { return message }
    if type >= SyncFrame.optionalTypes { return unknown(type) }
    throw FrameError(.unknownVersion, "\(name.prefix(1).uppercased() + name.dropFirst()) is not known.")
  }

  /// What the message is called in errors.
  package var name: String { "a message of type 0x" + String(type, radix: 16) }

  /// Decodes the body; `read` says whether something may be left. Throws `.badFrame` with the position.
  package func decoded<R>(_ read: (inout ByteReader) throws(CodingError) -> R) throws(FrameError) -> R {
    var reader = ByteReader(body)
    do throws(CodingError) { return try read(&reader) } catch {
      throw FrameError(.badFrame, "\(error.reason) at byte \(error.position) of \(name).")
    }
  }
}

/// The limits of what a side accepts, and how it sends.
public struct FrameLimits: Hashable, Sendable {
  /// The longest part on the wire.
  public var partBytes: Int
  /// The longest message, with all parts joined and inflated.
  public var messageBytes: Int
  /// Shorter bodies are not compressed.
  public var compressedFrom: Int
  /// How many times its compressed size a body may have, if it exceeds `Compression.alwaysAllowed`.
  public var inflationMax: Int

  /// The limits of clients: an object with everything it holds must fit, because it may come as a state instead of as changesets.
  public static let ofClient = FrameLimits(messageBytes: 256 << 20)

  /// Creates limits; by default 256 KiB, 16 MiB, 512 bytes, 64 times.
  public init(partBytes: Int = 256 << 10, messageBytes: Int = 16 << 20, compressedFrom: Int = 512, inflationMax: Int = 64) {
    self.partBytes = max(64, partBytes)
    self.messageBytes = max(64, messageBytes)
    self.compressedFrom = max(0, compressedFrom)
    self.inflationMax = max(2, inflationMax)
  }
}

/// Why bytes are not a valid message, or not valid at this point.
public struct FrameError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code sent to the other side.
  public let code: SyncErrorCode
  /// What was found, and at which byte of the message.
  public let detail: String

  /// Creates an error.
  public init(_ code: SyncErrorCode, _ detail: String) { (self.code, self.detail) = (code, detail) }

  /// What happened, and where.
  public var message: String { "\(code.message) \(detail)" }
  /// What helps.
  public var remedy: String { code.remedy }
  public var description: String { "\(message) \(remedy)" }
}
