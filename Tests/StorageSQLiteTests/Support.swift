import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import VivariumTestSupport

/// A store in a folder of its own.
final class Place: Sendable {
  let directory = TemporaryDirectory("sqlite")
  var path: String { directory.file("store.sqlite").path }
  var backend: SQLiteBackend { SQLiteBackend(path: path) }

  func open(_ options: OpenOptions = OpenOptions()) throws -> SQLiteEngine {
    guard let engine = try backend.open(options) as? SQLiteEngine else { throw NoEngine() }
    return engine
  }
}

struct NoEngine: Error {}

extension Schema {
  /// One type with a scalar of every kind, optional and not, and lists.
  static let everything = Schema([
    ObjectSchema(
      "Thing", .scalar("id", .int64, primaryKey: true), .scalar("flag", .bool), .scalar("small", .int8),
      .scalar("ratio", .double, indexed: true), .scalar("maybeRatio", .double, optional: true, indexed: true),
      .scalar("tiny", .float, optional: true, indexed: true), .scalar("when", .date, indexed: true),
      .scalar("name", .string, indexed: true), .scalar("alias", .string, optional: true, unique: true),
      .scalar("blob", .data, optional: true), .scalar("uuid", .uuid, optional: true, indexed: true),
      .link("best", to: "Thing"), .list("friends", ofLinksTo: "Thing"), .list("scores", of: .double, optional: true),
      .list("words", of: .string),
      indexes: [
        IndexSchema(properties: ["name", "ratio", "flag"], isUnique: false),
        IndexSchema(properties: ["maybeRatio", "tiny"], isUnique: true),
      ])
  ])
}
