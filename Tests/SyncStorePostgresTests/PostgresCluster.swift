#if Sync
import Foundation
import SyncProving
import Synchronization

@testable import SyncStorePostgres

/// A database server of the tests' own, with a database for each test. It ends with the process of the tests.
final class PostgresCluster: Sendable {
  /// The one of this process; nil where PostgreSQL is not installed. Throws where it does not start.
  static let shared = Result { try isInstalled ? PostgresCluster() : nil }

  static var isInstalled: Bool { PostgresFolder.isInstalled }

  private let server: PostgresFolder
  private let count = Atomic(0)
  private let control: PostgresConnection

  private init() throws {
    server = try PostgresFolder()
    control = PostgresConnection(address: server.address(), name: "control")
  }

  /// An empty database, and its address.
  func database() async throws -> String {
    let name = "t\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
    try await control.run { link throws(PostgresFailure) in try link.run("CREATE DATABASE \(name)") }
    return server.address(of: name)
  }

  /// Does something as whoever looks after the databases.
  func control(_ statement: String) async throws {
    try await control.run { link throws(PostgresFailure) in try link.run(statement) }
  }
}

extension PostgresServerStore {
  /// A server of stores in a database of its own.
  static func forTest(_ configuration: Configuration = Configuration()) async throws -> (stores: PostgresServerStore, address: String) {
    guard let cluster = try PostgresCluster.shared.get() else { throw CocoaError(.fileNoSuchFile) }
    let address = try await cluster.database()
    return (try await PostgresServerStore(address, makesTables: true, configuration: configuration), address)
  }

  /// Another server of the stores of a database.
  static func beside(_ address: String, _ configuration: Configuration = Configuration()) async throws -> PostgresServerStore {
    try await PostgresServerStore(address, configuration: configuration)
  }
}
#endif
