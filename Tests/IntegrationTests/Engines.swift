import Foundation
import StorageLMDB
import StorageMemory
import StorageSQLite
import TestSupport
import Vivarium

@Model final class Author {
  @PrimaryKey var name: String
  var born: Date?
  var books: LiveList<Book>
}

@Model final class Book {
  var title = ""
  @Indexed var pages = 0
  var price = 9.5
  var isLent = false
  var cover: Data?
  @Inverse(\Author.books) var authors: LinkingObjects<Author>
}

/// Every way to keep a store. A test with this as its argument runs once on each.
enum Engine: String, CaseIterable, Sendable {
  case reference, memory, lmdb, sqlite

  /// A new place. Keep the directory while the store is used.
  func place() -> (configuration: Store.Configuration, directory: TemporaryDirectory) {
    let directory = TemporaryDirectory("integration")
    var configuration: Store.Configuration
    switch self {
    case .reference: configuration = .reference(nil, models: [Author.self, Book.self])
    case .memory: configuration = .memory(UUID().uuidString, models: Author.self, Book.self)
    case .lmdb: configuration = .lmdb(directory.file(), models: Author.self, Book.self)
    case .sqlite: configuration = .sqlite(directory.file(), models: Author.self, Book.self)
    }
    configuration.misuse = .ignore
    return (configuration, directory)
  }
}
