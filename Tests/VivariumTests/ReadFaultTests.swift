import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A read that cannot throw, of a file that cannot be read: nothing is answered, and the log says why.
@Suite struct ReadFaultTests {
  private let disk = DeafDisk()
  private let store: Store

  init() throws {
    let configuration = makeConfiguration()
    var deaf = configuration
    deaf.misuse = .trapInDebug
    deaf.backend = ForwardingBackend(configuration.backend) { [disk] engine in
      ForwardingEngine(engine, read: { DeafRead(base: $0, disk: disk) })
    }
    store = try Store(deaf)
    try store.write {
      let person = Person(name: "Ann", age: 3)
      try store.add(person)
      person.dogs.append(Dog(name: "Rex", age: 3))
      person.scores.append(7)
    }
  }

  /// Reads while the disk gives nothing, and checks that exactly one line says so.
  private func expectLine<R>(_ what: String, sourceLocation: Testing.SourceLocation = #_sourceLocation, _ read: () -> R) -> R {
    let lines = Mutex<[String]>([])
    disk.isDeaf.withLock { $0 = true }
    let answer = StoreLog.$listener.withValue({ line in lines.withLock { $0.append(line) } }) { read() }
    disk.isDeaf.withLock { $0 = false }
    let said = lines.withLock { $0 }
    #expect(said.count == 1 && said[0].contains("The disk is broken."), "\(what): \(said)", sourceLocation: sourceLocation)
    return answer
  }

  @Test func objectsWithoutATypeSayWhatTheyCannotRead() throws {
    let person = try #require(try store.dynamicObjects("Person").first)
    let dog = try #require(try store.dynamicObjects("Dog").first)
    #expect(expectLine("a scalar") { person["name"] } == nil && person["name"] == .string("Ann"))
    #expect(expectLine("a list") { person.elements("scores") } == nil && person.elements("scores") == [.double(7)])
    #expect(expectLine("an inverse") { dog.objects("owners")?.count } == 0 && dog.objects("owners")?.count == 1)
    #expect(expectLine("whether it is there") { dog.isInvalidated } && !dog.isInvalidated)
  }

  @Test func membershipSaysWhatItCannotRead() throws {
    let dog = try #require(store.objects(Dog.self).first)
    let grown = store.objects(Dog.self).where { $0.age > 2 }
    #expect(!expectLine("a condition") { grown.contains(dog) } && grown.contains(dog))
    #expect(expectLine("an object") { dog.isInvalidated } && !dog.isInvalidated)
    #expect(!expectLine("a store") { store.isEmpty } && !store.isEmpty)
  }

  @Test func frozenObjectsSayWhatTheyCannotRead() throws {
    let frozen = try #require(store.objects(Person.self).first).freeze()
    #expect(expectLine("a scalar") { frozen.name } == "" && frozen.name == "Ann")
  }
}

private final class DeafDisk: Sendable {
  let isDeaf = Mutex(false)

  func pass() throws(StorageError) {
    if isDeaf.withLock({ $0 }) { throw StorageError(.io, .statement, "The disk is broken.") }
  }
}

private final class DeafRead: ForwardingRead {
  let base: any ReadTransaction
  let disk: DeafDisk
  init(base: any ReadTransaction, disk: DeafDisk) { (self.base, self.disk) = (base, disk) }

  /// None: every read has to be seen.
  var powers: StoragePowers { StoragePowers() }

  func count(_ table: TableID) throws(StorageError) -> Int {
    try disk.pass()
    return try base.count(table)
  }
  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool {
    try disk.pass()
    return try base.contains(table, key)
  }
  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    try disk.pass()
    return try base.word(column, key)
  }
  func bytes(_ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    try disk.pass()
    try base.bytes(column, key, body)
  }
  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try disk.pass()
    try base.elements(column, owner, range, body)
  }
  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try disk.pass()
    try base.sources(of: target, through: column, body)
  }
}
