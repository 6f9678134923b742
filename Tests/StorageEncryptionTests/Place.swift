#if Encryption
import Foundation
import StorageConformance
import StorageEncryption
import StorageInterface
import StorageLMDB
import StorageSQLite
import Vivarium
import VivariumTestSupport

@Model final class Patient {
  @PrimaryKey var number = 0
  @Indexed var secretName = ""
  var photo: Data?
  var diagnoses: LiveList<String>
}

/// The engines that encrypt files.
enum SealedKind: String, CaseIterable, Sendable {
  case sqlite, lmdb

  func backend(_ path: String, _ key: (any StoreKey)?) -> any KeyChanging {
    self == .sqlite ? SQLiteBackend(path: path, key: key) : LMDBBackend(path: path, key: key)
  }

  func configuration(_ path: String, _ key: (any StoreKey)?) -> Store.Configuration {
    self == .sqlite ? .sqlite(path, key: key, models: Patient.self) : .lmdb(path: path, key: key, models: Patient.self)
  }

  /// What may lie beside a store that nobody has open.
  var sideFiles: [String] { self == .sqlite ? [".coord", ".bell"] : ["-lock", ".coord", ".bell"] }
}

/// An encrypted store in a folder of its own.
struct Place {
  static let secret = "Gruezi-Murmeltier"
  let kind: SealedKind
  let folder = TemporaryDirectory("sealed")
  let key = EncryptionKey.generate()
  var path: String { folder.file("store.\(kind.rawValue)").path }
  var configuration: Store.Configuration { kind.configuration(path, key) }

  init(_ kind: SealedKind = .sqlite) { self.kind = kind }

  func engine(_ path: String? = nil, _ key: (any StoreKey)?) throws -> any StorageEngine {
    try kind.backend(path ?? self.path, key).open(OpenOptions())
  }

  /// Changes the key of the closed store.
  func change(_ path: String? = nil, from old: EncryptionKey?, to new: EncryptionKey?) throws {
    try Store.changeKey(of: kind.configuration(path ?? self.path, old), to: new)
  }

  /// An open store with `count` patients, whose texts all have the secret in them.
  func filled(_ count: Int = 300) throws -> Store {
    let store = try Store(configuration)
    try store.write {
      for number in 0..<count {
        let patient = Patient()
        patient.number = number
        patient.secretName = "\(Place.secret) \(number)"
        patient.photo = Data(String(repeating: "\(Place.secret) ", count: 30).utf8)
        try store.add(patient)
        patient.diagnoses.append("\(Place.secret) of \(number)")
      }
    }
    return store
  }

  /// What is in the file at a path.
  func picture(_ path: String? = nil, _ key: (any StoreKey)?) throws -> Picture {
    let engine = try engine(path, key)
    let read = try engine.beginRead()
    defer { read.end() }
    return try Picture(read)
  }

  /// The files of the folder in which the bytes of a text are.
  func files(with text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { name in
      try Data(contentsOf: folder.file(name)).range(of: Data(text.utf8)) != nil
    }.sorted()
  }

  func hasNothingPlain() throws -> Bool {
    try [Place.secret, "secretName", "CREATE TABLE", "SQLite format"].allSatisfy { try files(with: $0) == [] }
  }
}

/// The code of the error that is thrown.
func code<R>(_ body: () throws -> R) -> String? {
  do {
    _ = try body()
    return nil
  } catch let error as StorageError {
    return error.code.rawValue
  } catch let error as StoreError {
    return error.code.rawValue
  } catch {
    return "\(error)"
  }
}
#endif
