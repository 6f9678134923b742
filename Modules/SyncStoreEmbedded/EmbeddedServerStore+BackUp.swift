import Foundation
import SyncServer

extension EmbeddedServerStore {
  /// Copies all stores into a new folder, while they are in use: each as it is at one moment, with another history, so that devices of a
  /// server that is run on the copy begin anew instead of taking what others write under numbers they know.
  ///
  /// Where anything cannot be written nothing is left of it. Throws `.storeExists` where the folder is there.
  /// O(objects) of memory and time for one store after the other.
  public func backUp(to copy: String) async throws(ServerStoreError) {
    guard !FileManager.default.fileExists(atPath: copy) else { throw ServerStoreError(.storeExists, "'\(copy)' is there already.") }
    do throws(ServerStoreError) {
      try EmbeddedServerStore.makeFolder(ofFile: copy + "/x")
      for path in stores() {
        var log: ServerLog
        do throws(ServerStoreError) { log = try await self.log(path).read { $0 } } catch {
          // It was removed meanwhile.
          guard error.code == .unknownStore else { throw error }
          continue
        }
        log.history = ServerLog.newHistory()
        let file = EmbeddedServerStore.file(of: path, in: copy)
        try EmbeddedServerStore.makeFolder(ofFile: file)
        try EmbeddedLog(making: file, of: log).close()
      }
    } catch {
      try? FileManager.default.removeItem(atPath: copy)
      throw error
    }
  }

  /// Gives a store another history: after its file was restored from a copy that has the old one. Every device begins anew, and does
  /// again what the store does not have.
  public func renewHistory(_ path: StorePath) async throws(ServerStoreError) {
    try await log(path).change { log in log.history = ServerLog.newHistory() }
  }

  /// The folder of a file, which nobody else may read.
  static func makeFolder(ofFile file: String) throws(ServerStoreError) {
    let folder = (file as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
    } catch { throw ServerStoreError(.unavailable, "The folder '\(folder)' cannot be made: \(error.localizedDescription)") }
  }
}
