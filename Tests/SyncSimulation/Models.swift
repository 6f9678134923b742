import Foundation
import StorageLMDB
import StorageMemory
import StorageSQLite
import Vivarium
import VivariumTestSupport

@Model final class Thing {
  @PrimaryKey var id = 0
  var x: String?
  var n = 0
  /// Not zero: new objects have it by default, which loses to whatever was written.
  var rank = 5
  var link: Thing?
  var texts: LiveList<String>
  var friends: LiveList<Thing>
  var numbers: LiveSet<Int>
  var circle: LiveSet<Thing>
  var notes: LiveMap<String>
  var part: Part?
  var parts: LiveList<Part>
  var named: LiveMap<Part>
  var extra: AnyValue
}

@Model(.embedded) final class Part {
  var f: String?
  var count = 0
  var inner: LiveList<String>
}

/// Without a primary key.
@Model final class Plain {
  var name: String?
  var thing: Thing?
}

/// What keeps the replicas' files.
public enum Engine: String, CaseIterable, Sendable {
  case memory, lmdb, sqlite

  func configuration(_ directory: TemporaryDirectory, _ name: String) -> Store.Configuration {
    var configuration: Store.Configuration
    switch self {
    case .memory: configuration = .memory(UUID().uuidString)
    case .lmdb: configuration = .lmdb(directory.file(name))
    case .sqlite: configuration = .sqlite(directory.file(name))
    }
    configuration.models = [Thing.self, Part.self, Plain.self]
    configuration.durability = .relaxed
    return configuration
  }

  /// Copies the file of a store that is closed; returns the copy's name.
  func copy(_ directory: TemporaryDirectory, _ name: String, _ copy: String) throws -> String {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: directory.file(name + suffix).path) {
      try FileManager.default.copyItem(atPath: directory.file(name + suffix).path, toPath: directory.file(copy + suffix).path)
    }
    return copy
  }
}
