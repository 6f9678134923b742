import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

final class PersonCard: Projection<Person> {
  @Projected(\Person.name) var title
  @Projected(\Person.nick) var nick
  @Projected(\Person.best, \Dog.name) var bestName
  @Projected(\Person.dogs, \Dog.name) var dogNames
  @Projected(\Person.dogs) var dogs
}

final class DogCard: Projection<Dog> {
  @Projected(\Dog.name) var name
  @Projected(\Dog.owners, \Person.name) var ownerNames
  @Projected(\Dog.bestOf, \Person.nick) var friendsNick
}

final class ComputedCard: Projection<Person> {
  @Projected(\Person.isAdult) var isAdult
}

@Suite struct ProjectionTests {
  private func makeStore(_ misuse: MisusePolicy = .trapInDebug) throws -> (Store, Person, Dog) {
    var configuration = StoreConfiguration.reference(nil, models: [Person.self, Dog.self])
    (configuration.manualDelivery, configuration.misuse) = (true, misuse)
    let store = try Store(configuration)
    let (jane, rex) = (Person(name: "Jane", age: 30), Dog(name: "Rex", age: 3))
    jane.dogs = [rex, Dog(name: "Fido")]
    jane.best = rex
    try store.write { try store.add(jane) }
    return (store, jane, rex)
  }

  @Test func aProjectionShowsWhatIsThereNow() throws {
    let (store, jane, rex) = try makeStore()
    let card = PersonCard(jane)
    #expect(card.title == "Jane" && card.nick == nil && card.bestName == "Rex" && card.dogNames == ["Rex", "Fido"])
    let dog = DogCard(rex)
    #expect(dog.name == "Rex" && dog.ownerNames == ["Jane"] && dog.friendsNick == nil)
    try store.write {
      rex.name = "Max"
      card.title = "Ann"
      card.nick = "A"
      card.dogs.append(Dog(name: "Leo"))
      do {
        try store.savepoint { card.bestName = "cannot be set here" }
        Issue.record("set")
      } catch {
        #expect((error as? StoreError)?.code == .readOnly)
      }
    }
    #expect(jane.name == "Ann" && card.title == "Ann" && card.bestName == "Max" && card.dogNames == ["Max", "Fido", "Leo"])
    #expect(dog.friendsNick == "A" && ComputedCard(jane).isAdult)
    try store.write { try store.delete(rex) }
    #expect(card.bestName == nil && card.dogNames == ["Fido", "Leo"])
    try store.write { try store.delete(jane) }
    #expect(card.isInvalidated && card.title == "" && card.dogNames.isEmpty)
  }

  @Test func aProjectionIsObservedByItsOwnNames() throws {
    let (store, jane, rex) = try makeStore()
    var heard: [[String]] = []
    let token = PersonCard(jane).observe { change in
      switch change {
      case .change(let properties):
        heard.append(properties.map { "\($0.name) \($0.oldValue.map { "\($0)" } ?? "-") \($0.newValue.map { "\($0)" } ?? "-")" })
      case .deleted: heard.append(["deleted"])
      case .error(let error): heard.append(["\(error)"])
      }
    }
    func take() throws -> [[String]] {
      store.refresh()
      defer { heard = [] }
      return heard
    }
    try store.write { rex.name = "Max" }
    let first = try take()
    #expect(first == [["bestName Rex Max", "dogNames [Rex, Fido] [Max, Fido]"]], "\(first)")
    try store.write {
      jane.name = "Ann"
      jane.age = 31
    }
    #expect(try take() == [["title Jane Ann"]])
    try store.write { jane.age = 32; rex.age = 9 }
    #expect(try take() == [])
    try store.write { jane.best = nil }
    #expect(try take() == [["bestName Max nil"]])
    try store.write { try store.delete(jane) }
    #expect(try take() == [["deleted"]])
    token.stop()
  }

  /// The owner of the token shows what the skipped commit wrote: a change back is a change.
  @Test func aProjectionFollowsTheCommitsThatSkipIt() throws {
    let (store, jane, rex) = try makeStore()
    let other = try Store(store.configuration)
    var heard: [String] = []
    let token = PersonCard(jane).observe { change in
      guard case .change(let properties) = change else { return heard.append("\(change)") }
      for property in properties where property.name == "bestName" {
        heard.append("\(property.oldValue.map { "\($0)" } ?? "-") \(property.newValue.map { "\($0)" } ?? "-")")
      }
    }
    func name(in writer: Store, _ name: String, skipping tokens: [NotificationToken] = []) throws -> [String] {
      let dog = writer.resolve(rex.reference)
      try writer.write(withoutNotifying: tokens) { dog?.name = name }
      store.refresh()
      defer { heard = [] }
      return heard
    }
    other.refresh()
    #expect(try name(in: store, "Max", skipping: [token]) == [])
    #expect(try name(in: store, "Rex") == ["Max Rex"])
    // What another store told the owner is not known here.
    #expect(try name(in: other, "Max", skipping: [token]) == [])
    #expect(try name(in: other, "Rex") == ["- Rex"])
    #expect(try name(in: other, "Leo") == ["Rex Leo"])
    try store.write(silently: true) { rex.age = 4 }
    #expect(try name(in: other, "Max") == ["Leo Max"])
    token.stop()
  }

  @Test func projectedResultsHearOfWhatIsProjectedAlone() throws {
    let (store, jane, rex) = try makeStore()
    let cards = store.objects(Person.self).projected(to: PersonCard.self)
    #expect(cards.map(\.title) == ["Jane"] && cards[0].bestName == "Rex" && cards.error == nil)
    var heard: [String] = []
    let token = cards.observe { change in
      switch change {
      case .initial(let cards): heard.append("initial \(cards.map(\.title))")
      case .update(let cards, let deletions, let insertions, let modifications):
        heard.append("\(cards.map(\.title)) \(deletions) \(insertions) \(Array(modifications))")
      case .error(let error): heard.append("\(error)")
      }
    }
    func take() -> [String] {
      store.refresh()
      defer { heard = [] }
      return heard
    }
    #expect(take() == [#"initial ["Jane"]"#])
    try store.write { jane.age = 50; rex.age = 5 }
    #expect(take() == [])
    try store.write { rex.name = "Max" }
    #expect(take() == [#"["Jane"] [] [] [0]"#])
    try store.write { try store.add(Person(name: "Zoe")) }
    #expect(take() == [#"["Jane", "Zoe"] [] [1] []"#])
    token.stop()
  }

  @Test func aComputedPropertyCannotBeObserved() throws {
    let (store, jane, _) = try makeStore(.ignore)
    var told: [String] = []
    let cards = store.objects(Person.self).projected(to: ComputedCard.self)
    let tokens = [
      ComputedCard(jane).observe { if case .error(let error) = $0 { told.append("alone \(error.code.rawValue)") } },
      cards.observe { if case .error(let error) = $0 { told.append("all \(error.code.rawValue)") } },
    ]
    store.refresh()
    #expect(told.sorted() == ["all unknownProperty", "alone unknownProperty"])
    let atOnce = #expect(throws: StoreError.self) {
      try cards.observe(observingProperties: nil) { _ in }
    }
    #expect(atOnce?.code == .unknownProperty)
    for token in tokens { token.stop() }
  }
}
