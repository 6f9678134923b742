import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Crew {
  @PrimaryKey var id = 0
  var name = ""
  @Relationship(deleteRule: .cascade) var pets: LiveList<CrewPet>
  @Relationship(deleteRule: .deny) var debts: LiveList<CrewDebt>
  var card: CrewCard?
}

@Model final class CrewPet { @Unique var tag = "" }
@Model final class CrewDebt {
  var sum = 0
  var bonus: Int?
}
@Model final class CrewCard { @PrimaryKey var number = 0 }

/// A call that throws has no effect, and the write goes on.
@Suite struct RefusedCallsTests {
  private let store: Store

  init() throws {
    var configuration = StoreConfiguration.reference(
      nil, models: [Crew.self, CrewPet.self, CrewDebt.self, CrewCard.self])
    configuration.manualDelivery = true
    store = try Store(configuration)
    try store.write { try store.add(CrewCard(number: 1)) }
  }

  @Test func aNameThatIsNoPropertyFailsTheWrite() throws {
    let rex = CrewPet(tag: "rex")
    try store.write { try store.add(rex) }
    let error = #expect(throws: StoreError.self) {
      try store.write {
        rex["tag"] = .string("max")
        rex["tagg"] = .string("max")
      }
    }
    #expect(error?.code == .unknownProperty && rex.tag == "rex")
  }

  @Test func countingWhereTheObjectIsGoneFailsTheWrite() throws {
    let debt = CrewDebt(sum: 5)
    try store.write { try store.add(debt) }
    try store.write { debt.increment(\.bonus) }
    #expect(debt.bonus == nil)
    try store.write { try store.delete(debt) }
    let error = #expect(throws: StoreError.self) { try store.write { debt.increment(\.bonus) } }
    #expect(error?.code == .objectDeleted)
  }

  @Test func anAdditionThatFailsTakesNothingAwayThatItWasToOwn() throws {
    let rex = CrewPet(tag: "rex")
    try store.write { try store.add(rex) }
    let crew = Crew(id: 1, card: CrewCard(number: 1))
    crew.pets = [rex]
    try store.write {
      let error = #expect(throws: StoreError.self) { try store.add(crew) }
      #expect(error?.code == .primaryKeyExists)
    }
    #expect(!crew.isManaged && store.objects(Crew.self).isEmpty)
    #expect(!rex.isInvalidated && store.objects(CrewPet.self).map(\.tag) == ["rex"])
  }

  @Test func anAdditionThatFailsLeavesNothingThatItsRulesWouldKeep() throws {
    let debt = CrewDebt(sum: 5)
    try store.write { try store.add(debt) }
    let crew = Crew(id: 1, card: CrewCard(number: 1))
    crew.debts = [debt]
    try store.write { #expect(throws: StoreError.self) { try store.add(crew) } }
    #expect(!crew.isManaged && store.objects(Crew.self).isEmpty && store.objects(CrewDebt.self).count == 1)
  }

  @Test(arguments: [UpdatePolicy.modified, .all]) func anUpdateThatFailsLeavesTheStoredObjectAsItWas(policy: UpdatePolicy) throws {
    let old = Crew(id: 1, name: "Old", card: CrewCard(number: 2))
    old.pets = [CrewPet(tag: "rex")]
    try store.write {
      try store.add(old)
      try store.add(CrewPet(tag: "taken"))
    }
    let new = Crew(id: 1, name: "New", card: CrewCard(number: 3))
    new.debts = [CrewDebt(sum: 1)]
    new.pets = [CrewPet(tag: "fido"), CrewPet(tag: "taken")]
    try store.write {
      try store.add(CrewDebt(sum: 9))
      let error = #expect(throws: StoreError.self) { try store.add(new, update: policy) }
      #expect(error?.code == .uniqueViolation)
      #expect(old.name == "Old" && old.pets.map(\.tag) == ["rex"])
    }
    #expect(old.name == "Old" && old.card?.number == 2 && old.debts.isEmpty && old.pets.map(\.tag) == ["rex"])
    #expect(store.objects(CrewPet.self).count == 2 && store.objects(CrewDebt.self).map(\.sum) == [9])
    #expect(store.objects(CrewCard.self).count == 2)
    // It is what it was, and can be added in a form that is allowed.
    #expect(!new.isManaged && new.name == "New" && new.pets.map(\.tag) == ["fido", "taken"])
    new.pets = [CrewPet(tag: "fido")]
    try store.write { try store.add(new, update: policy) }
    #expect(new.isManaged && old.name == "New" && old.pets.map(\.tag) == ["fido"])
  }

  @Test func objectsGivenToACallByNamesAreUnmanagedAgainIfItFails() throws {
    let (rex, fido) = (CrewPet(tag: "rex"), CrewPet(tag: "fido"))
    let crew = Crew(id: 2)
    try store.write {
      try store.add(crew)
      let created = #expect(throws: StoreError.self) {
        _ = try store.create(Crew.self, value: ["id": 1, "pets": [rex] as [Any?], "debts": [5] as [Any?]])
      }
      let set = #expect(throws: StoreError.self) { try crew.setValue([fido, 5] as [Any?], forKey: "pets") }
      #expect(created?.code == .typeMismatch && set?.code == .typeMismatch)
    }
    #expect(store.objects(Crew.self).map(\.id) == [2] && store.objects(CrewPet.self).isEmpty && crew.pets.isEmpty)
    #expect(!rex.isManaged && rex.tag == "rex" && !fido.isManaged && fido.tag == "fido")
    // They are what they were, and can be given again.
    try store.write {
      _ = try store.create(Crew.self, value: ["id": 1, "pets": [rex] as [Any?]])
      try crew.setValue([fido] as [Any?], forKey: "pets")
    }
    #expect(rex.isManaged && crew.pets.map(\.tag) == ["fido"] && store.objects(CrewPet.self).count == 2)
  }

  @Test(arguments: [UpdatePolicy.error, .modified]) func aWriteThatFailsAsAWholeSaysWhatFailedFirst(policy: UpdatePolicy) throws {
    var configuration = StoreConfiguration.reference(nil, models: [Crew.self, CrewPet.self, CrewDebt.self, CrewCard.self])
    configuration.manualDelivery = true
    configuration.backend = ForwardingBackend(configuration.backend) { engine in ForwardingEngine(engine, write: { FullWrite(base: $0) }) }
    let full = try Store(configuration)
    let error = #expect(throws: StoreError.self) {
      try full.write { try full.add(Crew(id: 1, card: CrewCard(number: FullWrite.last)), update: policy) }
    }
    #expect(error?.code == .outOfDiskSpace)
    let other = #expect(throws: StoreError.self) {
      try full.write {
        let crew = Crew(id: 1)
        try full.add(crew)
        crew.card = CrewCard(number: FullWrite.last)
      }
    }
    #expect(other?.code == .outOfDiskSpace && full.objects(Crew.self).isEmpty)
  }

  @Test func deletingSeveralOfWhichOneIsDeniedDeletesNone() throws {
    let (free, bound) = (Crew(id: 1), Crew(id: 2))
    bound.debts = [CrewDebt(sum: 1)]
    try store.write { try store.add([free, bound]) }
    try store.write {
      #expect(throws: StoreError.self) { try store.delete([free, bound]) }
      #expect(throws: StoreError.self) { try store.delete(store.objects(Crew.self)) }
    }
    #expect(store.objects(Crew.self).map(\.id) == [1, 2] && !free.isInvalidated)
    try store.write { bound.debts.removeAll() }
    try store.write { try store.delete([free, bound]) }
    #expect(store.objects(Crew.self).isEmpty)
  }
}

/// The disk is full when an object with the last number is added. From then on nothing can be done, as in an engine.
private final class FullWrite: ForwardingWrite {
  static let last = 77
  let base: any WriteTransaction
  private var isSpoiled = false

  init(base: any WriteTransaction) { self.base = base }

  private func check() throws(StorageError) {
    if isSpoiled { throw StorageError(.misuse, .transaction, "The transaction failed before and can only be ended.") }
  }

  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    try check()
    if catalog[row.table]?.name == "CrewCard", row.word(0) == Int64(FullWrite.last) {
      isSpoiled = true
      throw StorageError(.outOfDiskSpace, .transaction, "The disk is full.")
    }
    return try base.insert(row)
  }

  func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) {
    try check()
    try base.delete(table, key)
  }

  func rollbackToSavepoint() throws(StorageError) {
    try check()
    try base.rollbackToSavepoint()
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    do throws(StorageError) { try check() } catch {
      base.end()
      throw error
    }
    return try base.commit(record, durability)
  }
}
