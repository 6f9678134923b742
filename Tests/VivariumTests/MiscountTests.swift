import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A counter of a damaged file says another number than there are objects or elements: what takes a collection at its word must
/// not end the process by it.
@Suite struct MiscountTests {
  private func store(by error: Int) throws -> Store {
    let name = UUID().uuidString
    let whole = try Store(makeConfiguration(name))
    try whole.write {
      for i in 0..<5 {
        let person = Person()
        (person.name, person.age) = ("P\(i)", i)
        for name in ["Rex", "Fido"] {
          let dog = Dog()
          dog.name = name
          person.dogs.append(dog)
        }
        try whole.add(person)
      }
    }
    var configuration = makeConfiguration(name)
    configuration.backend = ForwardingBackend(configuration.backend) { engine in
      ForwardingEngine(engine, read: { MiscountingRead(base: $0, error: error) })
    }
    return try Store(configuration)
  }

  @Test(arguments: [-2, -1, 1, 3]) func resultsAreWalkedAndCopiedAsOftenAsTheyCount(error: Int) throws {
    let store = try store(by: error)
    let count = 5 + error
    // Each from the beginning: the first call asks the counter, and the next the keys.
    #expect(store.objects(Person.self).toArray().count == count)
    #expect(store.objects(Person.self).map(\.name).count == count)
    #expect(Array(store.objects(Person.self).prefix(100)).count == count)
    #expect(Array(store.objects(Person.self).suffix(2)).count == 2)
    #expect(store.objects(Person.self).reversed().count == count)
    #expect(store.objects(Person.self).sorted { $0.name < $1.name }.count == count)
    #expect(Array(store.objects(Person.self).dropFirst()).count == count - 1)
    var all: [Person] = []
    all.append(contentsOf: store.objects(Person.self))
    all.insert(contentsOf: store.objects(Person.self), at: 0)
    #expect(all.count == 2 * count)
    var walked = 0
    for _ in store.objects(Person.self) { walked += 1 }
    #expect(walked == count)
    let results = store.objects(Person.self)
    #expect(results.count == count && Array(results).count == count && results.count == count)
    #expect(Array(AnyStoreCollection(store.objects(Person.self))).count == count)
    #expect(store.objects(Person.self).where { $0.age >= 0 }.toArray().count <= 5)
  }

  @Test(arguments: [-1, 1, 3]) func listsAreWalkedAndCopiedAsOftenAsTheyCount(error: Int) throws {
    let store = try store(by: error)
    let person = try #require(store.objects(Person.self).first)
    let count = 2 + error
    #expect(Array(person.dogs).count == count)
    #expect(person.dogs.map(\.name).count == count)
    #expect(person.dogs.prefix(50).map(\.name).count == count)
    var all: [Dog] = []
    all.append(contentsOf: person.dogs)
    #expect(all.count == count)
    #expect(person.dogs.toArray().count == count)
  }
}

private final class MiscountingRead: ForwardingRead {
  let base: any ReadTransaction
  private let error: Int
  init(base: any ReadTransaction, error: Int) { (self.base, self.error) = (base, error) }

  /// None: every read has to be seen.
  var powers: StoragePowers { StoragePowers() }

  func count(_ table: TableID) throws(StorageError) -> Int { try base.count(table) + error }

  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    try base.elementCount(column, owner) + error
  }
}
