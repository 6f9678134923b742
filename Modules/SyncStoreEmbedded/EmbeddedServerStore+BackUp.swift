import Foundation
import SyncServer

extension EmbeddedServerStore {
  /// Copies all stores into a new folder while they are in use: each as of one moment, and with a new history. So devices that connect to
  /// a server on the copy begin anew, instead of confusing its entries with others of the same numbers.
  ///
  /// If anything cannot be written, the copy is removed. Throws `.storeExists` if the folder exists. Takes O(objects) of memory and time,
  /// for one store after the other.
  public func backUp(to copy: String) async throws(ServerStoreError) {
    guard !FileManager.default.fileExists(atPath: copy) else { throw ServerStoreError(.storeExists, "'\(copy)' is there already.") }
    do throws(ServerStoreError) {
      try EmbeddedServerStore.makeFolder(ofFile: copy + "/x")
      for path in stores() {
        var log: ServerLog
        do throws(ServerStoreError) { log = try await self.log(path).read { $0 } } catch {
          // The store was removed in between.
          guard error.code == .unknownStore else { throw error }
          continue
        }
        log.renewHistory()
        let file = EmbeddedServerStore.file(of: path, in: copy)
        try EmbeddedServerStore.makeFolder(ofFile: file)
        try EmbeddedLog(making: file, of: log).close()
      }
    } catch {
      try? FileManager.default.removeItem(atPath: copy)
      throw error
    }
  }

  /// Gives a store a new history, after its file was restored from a copy with the old one. Every device begins anew: it takes the store's
  /// objects as they are, and redoes only what the server had not acknowledged. What was acknowledged after the copy was made is lost.
  public func renewHistory(_ path: StorePath) async throws(ServerStoreError) {
    try await log(path).change { log in log.renewHistory() }
  }

  /// Creates the folder of a file, accessible to nobody else.
  static func makeFolder(ofFile file: String) throws(ServerStoreError) {
    let folder = (file as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
    } catch { throw ServerStoreError(.unavailable, "The folder '\(folder)' cannot be made: \(error.localizedDescription)") }
  }
}
