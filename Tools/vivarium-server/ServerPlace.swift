#if Sync
import ArgumentParser
import Foundation
import SyncServer
import SyncStoreEmbedded

/// Where a server keeps what it has: the option that all commands have.
struct PlaceOption: ParsableArguments {
  @Option(name: .long, help: "The folder of what the server keeps.") var folder: String

  var place: ServerPlace { ServerPlace(folder: folder) }
}

/// Where a server keeps what it has, and what is there.
struct ServerPlace {
  let folder: String

  /// The folder of the stores.
  var stores: String { folder + "/stores" }
  /// The key that tokens are signed with.
  var tokenKey: String { folder + "/token-key" }

  /// Makes the folder where it is missing, for nobody else to read.
  func make() throws {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
    } catch { throw Trouble("The folder '\(folder)' cannot be made: \(error.localizedDescription)") }
  }

  /// The users, their log-ins, and who may do what.
  func directory() throws -> any UserDirectory { EmbeddedUserDirectory(path: folder + "/users.json") }
}
#endif
