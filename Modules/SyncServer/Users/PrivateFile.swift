import Foundation
import StorageCoordination

/// Files that only the server's own user may read.
public enum PrivateFile {
  /// Writes a file as a whole, durably; replaces an existing one.
  public static func write(_ data: Data, to path: String) throws(ServerStoreError) {
    let new = path + ".new"
    try? FileManager.default.removeItem(atPath: new)
    let attributes: [FileAttributeKey: Any] = [.posixPermissions: NSNumber(value: Int16(0o600))]
    guard FileManager.default.createFile(atPath: new, contents: data, attributes: attributes),
      let handle = FileHandle(forWritingAtPath: new), (try? handle.synchronize()) != nil, rename(new, path) == 0,
      // Without it, a power cut may bring back the old file.
      (try? Folder.sync(of: path)) != nil
    else {
      try? FileManager.default.removeItem(atPath: new)
      throw ServerStoreError(.unavailable, "'\(path)' cannot be written: is the disk full, and the folder writable?")
    }
    try? handle.close()
  }
}
