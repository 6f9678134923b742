import StorageCoordination
import StorageInterface

/// The files that SQLite keeps beside its own. It writes to whatever has their names, or removes it, and so does who makes a store
/// where older files were left: what somebody else has put there is recognised first, and stays as it was.
enum SQLiteSideFile {
  private static let logs: [[UInt8]] = [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]
  private static let journals: [[UInt8]] = [[0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]]
  /// In the machine's byte order.
  private static let indexes: [[UInt8]] = [withUnsafeBytes(of: UInt32(3_007_000)) { Array($0) }]

  /// Whether a file with such a name is certainly none of SQLite's. False if there is none, and for other names.
  static func isForeign(_ path: String) -> Bool {
    let beginnings = path.hasSuffix("-wal") ? logs : path.hasSuffix("-journal") ? journals : path.hasSuffix("-shm") ? indexes : []
    guard let length = beginnings.first?.count else { return false }
    return SideFile.isForeign(path) { file in
      guard let bytes = SideFile.beginning(file, length)?.bytes else { return false }
      // Zeroes, and less than a beginning, are what a killed process or a power cut leaves.
      return bytes.allSatisfy { $0 == 0 } || beginnings.contains { $0.starts(with: bytes) }
    }
  }

  /// Throws `.foreignFile` if there is something foreign at one of the paths.
  static func refuseForeign(_ paths: [String]) throws(StorageError) {
    for path in paths where isForeign(path) { throw SideFile.foreign(path, "log or journal") }
  }
}
