import Foundation
import QueryEngine
import QueryModel
import ResultsControl
#if Encryption
import StorageEncryption
#endif
import StorageInterface
import StorageMemory
import StorageSQLite
import StoreOperations
import StoreValues
import Vivarium
import VivariumTestSupport

extension Provocations {
  // MARK: Objects

  static let objects: [String: Provocation] = [
    "StoreError.primaryKeyExists": { ground in
      let (store, _) = try ground.owned()
      try store.write { try store.add(Owner(id: 1)) }
    },
    "StoreError.primaryKeyIsFixed": { ground in
      let (store, owner) = try ground.owned()
      try store.write { try owner.set(\.id, to: 2) }
    },
    "StoreError.uniqueViolation": { ground in
      let store = try ground.store()
      try store.write { try store.add([Pet(tag: "a"), Pet(tag: "a")]) }
    },
    "StoreError.notManaged": { _ in _ = try Owner().freeze() },
    "StoreError.embeddedAlone": { ground in
      let store = try ground.store()
      try store.write { try store.add(Home()) }
    },
    "StoreError.alreadyOwned": { ground in
      let (store, owner) = try ground.owned()
      let other = Owner(id: 2)
      try store.write {
        owner.home = Home(city: "A")
        try store.add(other)
      }
      try store.write { try other.set(\.home, to: owner.home) }
    },
    "StoreError.deleteDenied": { ground in
      let (store, owner) = try ground.owned()
      try store.write { owner.pets.append(Pet(tag: "a")) }
      try store.write { try store.delete(owner) }
    },
    "StoreError.objectDeleted": { ground in
      let (store, owner) = try ground.owned()
      try store.write { try store.delete(owner) }
      _ = try owner.value(forKey: "name")
    },
    "StoreError.missingValue": { ground in
      let (store, owner) = try ground.owned()
      try store.write { try owner.setValue(nil, forKey: "name") }
    },
    "StoreError.typeMismatch": { ground in
      let (store, owner) = try ground.owned()
      try store.write { try owner.setValue("x", forKey: "age") }
    },
    "StoreError.tooLarge": { ground in
      // Texts of a gigabyte would do, and keys do it for less.
      let engine = try MemoryBackend().open(OpenOptions())
      guard let table = try engine.adopt(Schema([ObjectSchema("Pet", .scalar("tag", .string))]))["Pet"] else { return }
      do throws(StorageError) {
        try engine.beginWrite(.never).reserveKeys(in: table.id, below: ObjectKey(.max))
      } catch {
        throw StoreError(StoreError.Code(rawValue: error.code.rawValue), error.message, remedy: error.remedy)
      }
    },
    "StoreError.indexOutOfRange": { ground in
      let (store, owner) = try ground.owned()
      try store.write { owner.words.remove(at: 5) }
    },
    "StoreError.unknownType": { ground in _ = try ground.store().dynamicObjects("Nobody") },
    "StoreError.unknownProperty": { ground in
      let (store, owner) = try ground.owned()
      try store.write { try owner.setValue(1, forKey: "colour") }
    },
    "StoreError.wrongStore": { ground in
      let (_, owner) = try ground.owned()
      let other = try Store(ground.configuration(MemoryBackend()))
      try other.write { try other.delete(owner) }
    },
    "StoreError.notToOne": { ground in
      let (_, owner) = try ground.owned()
      try owner.observe(paths: ["pets.tag"]) { _, _, _ in }.stop()
    },
  ]

  // MARK: Queries

  static let queries: [String: Provocation] = [
    "StoreError.invalidQuery": { ground in _ = try ground.store().objects(Pet.self).filter(format: "nonsense(") },
    "StoreError.overflow": { ground in
      let store = try ground.store()
      try store.write { try store.add([Pet(tag: "a", age: .max), Pet(tag: "b", age: 1)]) }
      _ = try store.objects(Pet.self).value(forKeyPath: "@sum.age")
    },
    "QueryError.wrongStore": { ground in
      let (store, _) = try ground.owned()
      let other = try Store(ground.configuration(MemoryBackend()))
      let pet = Pet(tag: "a")
      try other.write { try other.add(pet) }
      if let error = store.objects(Owner.self).where({ $0.best == pet }).error { throw error.underlying ?? error }
    },
    "QueryError.unknownType": { ground in try bind("tag == 'a'", ground, type: "Nobody") },
    "QueryError.unknownProperty": { ground in try bind("colour == 'red'", ground) },
    "QueryError.typeMismatch": { ground in try bind("age == 'old'", ground) },
    "QueryError.badOperator": { ground in try bind("age CONTAINS 1", ground) },
    "QueryError.badArgument": { ground in
      try bind(Query(type: "Pet", limit: -1), ground)
    },
    "QueryError.notSupported": { ground in try bind("tag GEOWITHIN geoCircle([1, 1], 1)", ground) },
    "QueryError.tooComplex": { ground in try bind(String(repeating: "(", count: 100_000), ground) },
    "QueryError.needsCollection": { ground in try bind("ANY tag == 'a'", ground) },
    "QueryError.syntax": { ground in try bind("tag ==", ground) },
    "QueryError.missingArgument": { ground in try bind("tag == %@", ground) },
    "QueryError.overflow": { ground in
      let store = try ground.store()
      try store.write { try store.add([Pet(tag: "a", age: .max), Pet(tag: "b", age: 1)]) }
      let read = try ground.configuration().backend.open(OpenOptions()).beginRead()
      defer { read.end() }
      _ = try BoundQuery(Query(type: "Pet"), in: read.catalog).sum(PropertyPath("age"), in: read)
    },
    "QueryError.storage": { ground in
      let store = try ground.store()
      defer { withExtendedLifetime(store) {} }
      let read = try ground.configuration().backend.open(OpenOptions()).beginRead()
      let query = try BoundQuery(Query(type: "Pet"), in: read.catalog)
      read.end()
      _ = try query.sum(PropertyPath("age"), in: read)
    },
    "TextQueryError.noWords": { _ in _ = try TextQuery("!?") },
    "TextQueryError.onlyExclusions": { _ in _ = try TextQuery("-a -b") },
    "TextQueryError.strayStar": { _ in _ = try TextQuery("a *") },
    "TextQueryError.tooManyWords": { _ in _ = try TextQuery((0..<10_000).map { "word\($0)" }.joined(separator: " ")) },
  ]

  private static func bind(_ condition: String, _ ground: Ground, type: String = "Pet") throws {
    try bind(Query(type: type, parsing: condition), ground)
  }

  private static func bind(_ query: Query, _ ground: Ground) throws {
    let store = try ground.store()
    let read = try store.configuration.backend.open(OpenOptions()).beginRead()
    defer { read.end() }
    _ = try BoundQuery(query, in: read.catalog)
  }

  // MARK: Companions

  static let companions: [String: Provocation] = [
    "StoreError.conditionNotMet": { ground in
      let count = StoreRO { $0.objects(Pet.self).count }
      _ = try ground.store().run(io: count.filter { $0 > 0 })
    },
    "StoreError.emptySortDescriptors": { ground in
      let request = ResultsRequest<Owner>(store: try ground.store(), sortedBy: [])
      _ = try ResultsController(request: request, sectionedBy: Sectioning<Owner>?.none)
    },
    "StoreError.invalidKeyPath": { ground in
      let request = ResultsRequest<Owner>(store: try ground.store(), sortedBy: [SortKey(\Owner.age)])
      _ = try ResultsController(request: request, sectionedBy: .by(\.name))
    },
  ]

  // MARK: Encryption

  #if Encryption
  static let encryption: [String: Provocation] = [
    "StoreError.wrongKey": { ground in
      _ = try ground.closedFile(SQLiteBackend(path: ground.path, key: EncryptionKey.generate()))
      _ = try Store(ground.configuration(SQLiteBackend(path: ground.path, key: EncryptionKey.generate())))
    },
    "StoreError.missingKey": { ground in
      _ = try ground.closedFile(SQLiteBackend(path: ground.path, key: EncryptionKey.generate()))
      _ = try ground.store()
    },
    "StoreError.notEncrypted": { ground in
      _ = try ground.closedFile()
      _ = try Store(ground.configuration(SQLiteBackend(path: ground.path, key: EncryptionKey.generate())))
    },
  ]
  #else
  static let encryption: [String: Provocation] = [:]
  #endif
}
