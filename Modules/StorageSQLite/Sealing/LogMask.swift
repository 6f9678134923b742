import StorageInterface

/// Hides SQLite's checksums in an encrypted log.
///
/// The header before each page has eight bytes that SQLite adds up from that page and all before it, without a key. From these one
/// could tell what differs between two states of a page, or find eight bytes of a page whose rest one knows. So they are hidden with
/// `PageCipher.mask`, and with eight random bytes for each writing of a header. The random bytes lie where SQLite repeats the log's
/// salts, by which a frame is known to be of this log and not of one before; the mask is made of the salts too, so the hidden bytes
/// of another log's frame become no checksum.
///
/// The log's own header says that it is such a log. One that a killed process of an earlier build left is read as it is, and
/// continued so until it restarts.
enum LogMask {
  /// How many bytes a checksum has.
  static let sumCount = 8
  /// Where it begins in the header of a frame.
  static let sumPlace = 16

  /// SQLite's number of the log's format, and ours: "Viv" and 2.
  private static let plainVersion: [UInt8] = [0x00, 0x2D, 0xE2, 0x18]
  private static let version: [UInt8] = [0x56, 0x69, 0x76, 0x02]
  private static let versionPlace = 4..<8
  /// In the header of the log, and in that of a frame.
  private static let logSalts = 16..<24
  private static let frameSalts = 8..<16

  // MARK: The header of the log

  /// Whether a log with this header hides its checksums.
  static func isMarked(_ header: [UInt8]) -> Bool { header[versionPlace].elementsEqual(version) }

  /// Makes SQLite's header of a log one of ours. False if it is of a format that we do not know.
  static func mark(_ header: inout [UInt8]) -> Bool {
    guard header[versionPlace].elementsEqual(plainVersion) else { return false }
    header.replaceSubrange(versionPlace, with: version)
    return true
  }

  /// The inverse. Leaves other headers alone, also damaged ones: SQLite finds out by their checksum.
  static func unmark(_ header: inout [UInt8]) {
    if isMarked(header) { header.replaceSubrange(versionPlace, with: plainVersion) }
  }

  // MARK: The headers of frames

  /// Hides the checksum in the header of the frame at `offset`, as it is written.
  static func hide(_ header: inout [UInt8], at offset: Int64, _ cipher: any PageCipher) {
    let salts = Array(header[frameSalts])
    let random = withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Array($0) }
    header.replaceSubrange(frameSalts, with: random)
    header.withUnsafeMutableBytes { mask($0, context(offset, random, salts), cipher) }
  }

  /// The inverse, in a log with the header `log`.
  static func show(_ header: UnsafeMutableRawBufferPointer, at offset: Int64, in log: [UInt8], _ cipher: any PageCipher) {
    let salts = Array(log[logSalts])
    let random = Array(header[frameSalts])
    UnsafeMutableRawBufferPointer(rebasing: header[frameSalts]).copyBytes(from: salts)
    mask(header, context(offset, random, salts), cipher)
  }

  private static func mask(_ header: UnsafeMutableRawBufferPointer, _ context: [UInt8], _ cipher: any PageCipher) {
    let sum = UnsafeMutableRawBufferPointer(rebasing: header[sumPlace..<sumPlace + sumCount])
    context.withUnsafeBytes { cipher.mask(sum, $0) }
  }

  private static func context(_ offset: Int64, _ random: [UInt8], _ salts: [UInt8]) -> [UInt8] {
    let place = withUnsafeBytes(of: offset.littleEndian) { Array($0) }
    return place + random + salts
  }
}
