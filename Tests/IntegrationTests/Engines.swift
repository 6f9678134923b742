import Foundation
import StorageLMDB
import StorageMemory
import StorageSQLite
import StoreValues
import Vivarium
import VivariumTestSupport

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
  func place(
    _ models: [any SchemaDescribing.Type] = [Author.self, Book.self]
  ) -> (configuration: Store.Configuration, directory: TemporaryDirectory) {
    let directory = TemporaryDirectory("integration")
    return (configuration(directory.file(), models), directory)
  }

  /// A store in this file, if the engine has files; else a new one.
  func configuration(
    _ file: URL, _ models: [any SchemaDescribing.Type] = [Author.self, Book.self]
  ) -> Store.Configuration {
    var configuration: Store.Configuration
    switch self {
    case .reference: configuration = .reference(nil, models: [])
    case .memory: configuration = .memory(UUID().uuidString)
    case .lmdb: configuration = .lmdb(file)
    case .sqlite: configuration = .sqlite(file)
    }
    configuration.models = models
    configuration.manualDelivery = true
    return configuration
  }
}
