#if os(Linux)
import Foundation

/// A point to which a file is put back after a crash says in which run of the system it was written. This one goes on, so the point is
/// made one of another.
enum RestartedSystem {
  private static let (slot, size, run, sum) = (512, 256, 32, 248)

  static func play(_ path: String) throws {
    let url = URL(fileURLWithPath: path + ".safe")
    guard var bytes = try? Data(contentsOf: url) else { return }
    for place in [0, slot] where bytes.count >= place + size {
      // A torn point stays one.
      guard word(bytes, place + sum) == checksum(bytes[place..<place + sum]) else { continue }
      bytes[place + run] ^= 1
      withUnsafeBytes(of: checksum(bytes[place..<place + sum]).littleEndian) {
        bytes.replaceSubrange(place + sum..<place + size, with: $0)
      }
    }
    let file = try FileHandle(forWritingTo: url)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  private static func word(_ bytes: Data, _ at: Int) -> UInt64 {
    bytes[at..<at + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// FNV-1a.
  private static func checksum(_ bytes: Data) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
#endif
