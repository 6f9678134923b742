#if Sync
import ArgumentParser
import Foundation
import SyncServer
import SyncStoreEmbedded
import SyncStorePostgres

/// Where a server keeps what it has: the options that all commands have.
struct PlaceOption: ParsableArguments {
  @Option(help: "The folder of what the server keeps.") var folder: String?
  @Option(help: "The PostgreSQL database of what the server keeps, as libpq takes it.") var postgres: String?

  var place: ServerPlace { get throws { try ServerPlace(folder: folder, postgres: postgres) } }
}

/// Where a server keeps what it has, and what is there.
enum ServerPlace {
  case folder(String)
  /// For several servers at once.
  case database(String)

  /// One of the two.
  init(folder: String?, postgres: String?) throws {
    switch (folder, postgres) {
    case (let folder?, nil): self = .folder(folder)
    case (nil, let address?): self = .database(address)
    case (nil, nil): throw Trouble("Where is what the server keeps? Say --folder or --postgres, or 'folder' or 'postgres' in the settings.")
    case (.some, .some): throw Trouble("What the server keeps is in a folder or in a database: say --folder or --postgres.")
    }
  }

  /// In words for people; the address of a database may have a password in it.
  var name: String {
    switch self {
    case .folder(let folder): "'\(folder)'"
    case .database: "a PostgreSQL database"
    }
  }

  /// Makes what is missing, the folder for nobody else to read.
  func make() async throws {
    switch self {
    case .folder(let folder):
      do {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: NSNumber(value: Int16(0o700))])
      } catch { throw Trouble("The folder '\(folder)' cannot be made: \(error.localizedDescription)") }
    case .database(let address): try await PostgresServerStore(address, makesTables: true).close()
    }
  }

  /// Does something with the users, their log-ins, and who may do what.
  func withDirectory<R>(_ body: (any UserDirectory) async throws -> R) async throws -> R {
    switch self {
    case .folder(let folder): return try await body(EmbeddedUserDirectory(path: ServerPlace.users(folder)))
    case .database(let address):
      let directory = try await PostgresUserDirectory(address)
      return try await ServerPlace.then({ await directory.close() }) { try await body(directory) }
    }
  }

  /// The paths of all stores.
  func stores() async throws -> [StorePath] {
    switch self {
    case .folder(let folder): return EmbeddedServerStore.stores(inFolder: ServerPlace.stores(folder))
    case .database(let address):
      let stores = try await PostgresServerStore(address)
      return try await ServerPlace.then({ await stores.close() }) { try await stores.stores() }
    }
  }

  /// Does something with the stores. A folder's are one process's at a time.
  func withStores<R>(_ body: (any SyncServerStore) async throws -> R) async throws -> R {
    switch self {
    case .folder(let folder):
      guard FileManager.default.fileExists(atPath: ServerPlace.stores(folder)) else { throw Trouble("There are no stores in '\(folder)'.") }
      return try await body(EmbeddedServerStore(folder: ServerPlace.stores(folder)))
    case .database(let address):
      let stores = try await PostgresServerStore(address)
      return try await ServerPlace.then({ await stores.close() }) { try await body(stores) }
    }
  }

  /// Gives a store another history, or all, where no server runs.
  func renew(_ only: StorePath?) async throws -> Int {
    var count = 0
    for path in try await stores() where only == nil || path == only {
      switch self {
      case .folder(let folder): try await EmbeddedServerStore(folder: ServerPlace.stores(folder)).renewHistory(path)
      case .database(let address):
        let stores = try await PostgresServerStore(address)
        try await ServerPlace.then({ await stores.close() }) { try await stores.renewHistory(path) }
      }
      count += 1
    }
    return count
  }

  /// Copies what a folder has into one below it, which can be served as it is.
  static func backUp(_ folder: String, _ name: String, _ stores: EmbeddedServerStore) async throws(ServerStoreError) {
    let copy = "\(folder)/backups/\(name)"
    try await stores.backUp(to: ServerPlace.stores(copy))
    for path in [users, tokenKey] where FileManager.default.fileExists(atPath: path(folder)) {
      do { try FileManager.default.copyItem(atPath: path(folder), toPath: path(copy)) } catch {
        try? FileManager.default.removeItem(atPath: copy)
        throw ServerStoreError(.unavailable, "'\(path(folder))' cannot be copied: \(error.localizedDescription)")
      }
    }
  }

  /// Does something, and something else after it, also where it throws.
  private static func then<R>(_ end: () async -> Void, _ body: () async throws -> R) async throws -> R {
    let result: R
    do { result = try await body() } catch {
      await end()
      throw error
    }
    await end()
    return result
  }

  static func stores(_ folder: String) -> String { folder + "/stores" }
  static func users(_ folder: String) -> String { folder + "/users.json" }
  /// The key that tokens are signed with.
  static func tokenKey(_ folder: String) -> String { folder + "/token-key" }
}
#endif
