import Foundation
import QueryEngine
import ResultsControl
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class StoreKeeper {
  @PrimaryKey var id = 0
  var name = ""
  var best: KeptPet?
  var pets: LiveList<KeptPet>
  var friends: LiveSet<KeptPet>
  var byName: LiveMap<KeptPet>
  var extra: AnyValue
  var extras: LiveList<AnyValue>
  var extraSet: LiveSet<AnyValue>
  var extraMap: LiveMap<AnyValue>
}

@Model final class KeptPet {
  var name = ""
  @Inverse(\StoreKeeper.pets) var keepers: LinkingObjects<StoreKeeper>
}

/// Two stores of the same models with objects of the same keys, and a call given what is of the other one: each refuses it with
/// `.wrongStore` or finds nothing, and neither store is different afterwards.
@Suite struct WrongStoreTests {
  private struct Pair {
    let own: Store
    let other: Store
    let places: [TemporaryDirectory]

    init(_ engine: Engine, misuse: MisusePolicy = .trapInDebug) throws {
      var stores: [Store] = []
      var places: [TemporaryDirectory] = []
      for name in ["own", "other"] {
        var (configuration, place) = engine.place([StoreKeeper.self, KeptPet.self])
        configuration.misuse = misuse
        places.append(place)
        let store = try Store(configuration)
        try store.write {
          for id in 1...3 {
            let keeper = StoreKeeper(id: id, name: name)
            try store.add(keeper)
            keeper.pets.append(KeptPet(name: "\(name) \(id)"))
            keeper.best = keeper.pets.first
            keeper.friends.insert(keeper.pets[0])
            keeper.byName["rex"] = keeper.pets[0]
            keeper.extra = try AnyValue(keeper.pets[0])
            keeper.extras.append(try AnyValue(keeper.pets[0]))
            keeper.extraSet.insert(try AnyValue(keeper.pets[0]))
            keeper.extraMap["rex"] = try AnyValue(keeper.pets[0])
          }
        }
        stores.append(store)
      }
      (own, other, self.places) = (stores[0], stores[1], places)
    }

    var keeper: StoreKeeper { own.objects(StoreKeeper.self)[0] }
    var foreignKeeper: StoreKeeper { other.objects(StoreKeeper.self)[0] }
    var foreignPet: KeptPet { other.objects(KeptPet.self)[0] }

    /// What both hold.
    func state() -> [String] {
      var lines: [String] = []
      for store in [own, other] {
        for keeper in store.objects(StoreKeeper.self) {
          var names = ["\(keeper.id)", keeper.name, keeper.best?.name ?? "-"]
          names += keeper.pets.map(\.name)
          names += keeper.friends.map(\.name)
          for entry in keeper.byName { names.append(entry.value.name) }
          for extra in [keeper.extra] + keeper.extras.toArray() { names.append(extra.object(KeptPet.self, in: store)?.name ?? "-") }
          lines.append(names.joined(separator: ", "))
        }
        lines += store.objects(KeptPet.self).map(\.name)
      }
      return lines
    }
  }

  /// A new one with more than an initialiser takes.
  private func keeper(_ id: Int, _ change: (StoreKeeper) throws -> Void) rethrows -> StoreKeeper {
    let keeper = StoreKeeper(id: id)
    try change(keeper)
    return keeper
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test(arguments: Engine.allCases) func everyCallThatWritesRefusesWhatIsOfAnotherStore(engine: Engine) throws {
    let pair = try Pair(engine)
    let (own, mine, foreign, foreignKeeper) = (pair.own, pair.keeper, pair.foreignPet, pair.foreignKeeper)
    let before = pair.state()
    func refuses(_ name: String, _ call: () throws -> Void) throws {
      try own.beginWrite()
      #expect(code(call) == .wrongStore, "\(name)")
      own.cancelWrite()
      #expect(pair.state() == before, "\(name)")
    }
    try refuses("delete an object") { try own.delete(foreign) }
    try refuses("delete an array") { try own.delete([foreign]) }
    try refuses("delete an array with one of them") { try own.delete([mine.pets[0], foreign]) }
    try refuses("delete results") { try own.delete(pair.other.objects(KeptPet.self)) }
    try refuses("delete filtered results") { try own.delete(pair.other.objects(KeptPet.self).where { $0.name != "" }) }
    try refuses("delete a list") { try own.delete(foreignKeeper.pets) }
    try refuses("delete a set") { try own.delete(foreignKeeper.friends) }
    try refuses("delete an inverse") { try own.delete(foreign.keepers) }
    try refuses("delete an unmanaged object") { try own.delete([KeptPet(name: "new")]) }
    try refuses("delete a dynamic object") { try own.delete(pair.other.dynamicObjects("KeptPet")[0]) }
    try refuses("delete and post") { try own.deleteNotified(foreign) }
    try refuses("delete an array and post") { try own.deleteNotified([foreign]) }
    try refuses("add") { try own.add(foreign) }
    try refuses("add an array") { try own.add([foreign]) }
    try refuses("add to update") { try own.add(foreignKeeper, update: .modified) }
    try refuses("add what links there") { try own.add(StoreKeeper(id: 9, best: foreign)) }
    try refuses("add what lists it") { try own.add(keeper(9) { $0.pets.append(foreign) }) }
    try refuses("add with a mixed link") { try own.add(StoreKeeper(id: 9, extra: foreignKeeper.extra)) }
    try refuses("add with mixed links in a list") { try own.add(keeper(9) { $0.extras.append(try AnyValue(foreign)) }) }
    try refuses("create") { try own.create(StoreKeeper.self, value: ["id": 9, "best": foreign]) }
    try refuses("create with a list") { try own.create(StoreKeeper.self, value: ["id": 9, "pets": [foreign]]) }
    try refuses("create with a list of there") { try own.create(StoreKeeper.self, value: ["id": 9, "pets": foreignKeeper.pets]) }
    try refuses("add a copy of a snapshot with a mixed link") {
      let copy = foreignKeeper.snapshot().unmanagedCopy()
      copy.id = 9
      try own.add(copy)
    }
    try refuses("add what was given a mixed link by name") {
      let keeper = StoreKeeper(id: 9)
      try keeper.setValue(["a": [try AnyValue(foreign)]], forKey: "extra")
      try own.add(keeper)
    }
    try refuses("create with a mixed value") { try own.create(StoreKeeper.self, value: ["id": 9, "extra": foreignKeeper.extra]) }
    try refuses("create with mixed values") { try own.create(StoreKeeper.self, value: ["id": 9, "extras": [foreignKeeper.extra]]) }
    try refuses("set by name") { try mine.setValue(foreign, forKey: "best") }
    try refuses("set a list by name") { try mine.setValue([foreign], forKey: "pets") }
    try refuses("set a set by name") { try mine.setValue([foreign], forKey: "friends") }
    try refuses("set a map by name") { try mine.setValue(["rex": foreign], forKey: "byName") }
    try refuses("set a mixed value by name") { try mine.setValue(foreignKeeper.extra, forKey: "extra") }
    try refuses("set a nested mixed value by name") { try mine.setValue(["a": [foreignKeeper.extra]], forKey: "extra") }
    try refuses("update results") { try own.update(pair.other.objects(KeptPet.self), set: \.name, to: "x") }
    try refuses("touch") { try own.touch(foreign) }
    try refuses("find by reference") { _ = try own.object(foreign.reference) }
  }

  @Test(arguments: Engine.allCases) func noSetterAndNoEditTakesWhatIsOfAnotherStore(engine: Engine) throws {
    let pair = try Pair(engine)
    let (own, mine, foreign, foreignKeeper) = (pair.own, pair.keeper, pair.foreignPet, pair.foreignKeeper)
    let before = pair.state()
    func refuses(_ name: String, _ edit: () throws -> Void) throws {
      #expect(code { try own.write { try edit() } } == .wrongStore, "\(name)")
      #expect(pair.state() == before, "\(name)")
    }
    try refuses("set a link") { mine.best = foreign }
    try refuses("append") { mine.pets.append(foreign) }
    try refuses("insert") { mine.pets.insert(foreign, at: 0) }
    try refuses("set an element") { mine.pets[0] = foreign }
    try refuses("assign a list") { mine.pets = foreignKeeper.pets }
    try refuses("append what is listed there") { mine.pets.append(contentsOf: foreignKeeper.pets) }
    try refuses("insert into a set") { mine.friends.insert(foreign) }
    try refuses("form a union") { mine.friends.formUnion(foreignKeeper.friends) }
    try refuses("set an entry") { mine.byName["rex"] = foreign }
    try refuses("merge entries") { mine.byName.merge(foreignKeeper.byName.map { ($0.key, $0.value) }) }
    try refuses("set a mixed value") { mine.extra = foreignKeeper.extra }
    try refuses("set a mixed value of an object") { mine.extra = try AnyValue(foreign) }
    try refuses("set a mixed value of a frozen object") { mine.extra = try foreignKeeper.freeze().extra }
    try refuses("append a mixed value of a frozen object") { mine.extras.append(try foreignKeeper.freeze().extras[0]) }
    try refuses("set a mixed value of a snapshot") { mine.extra = foreignKeeper.snapshot().extra }
    try refuses("set a mixed value of a column") { mine.extra = try pair.other.objects(StoreKeeper.self).values(\.extra)[0] }
    try refuses("set a nested mixed value") { mine.extra = ["a": [try AnyValue(foreign)]] }
    try refuses("set a part of a mixed value") { mine.extra["a"] = foreignKeeper.extra }
    try refuses("append a mixed value") { mine.extras.append(foreignKeeper.extras[0]) }
    // Nothing is taken out that is not there.
    try own.write {
      #expect(!mine.friends.remove(foreign))
      mine.friends.subtract(foreignKeeper.friends)
    }
    #expect(pair.state() == before)
  }

  @Test(arguments: Engine.allCases) func nothingOfAnotherStoreIsFound(engine: Engine) throws {
    let pair = try Pair(engine, misuse: .ignore)
    let (own, mine, foreign, foreignKeeper) = (pair.own, pair.keeper, pair.foreignPet, pair.foreignKeeper)
    #expect(own.resolve(foreign.reference) == nil)
    #expect(foreign.reference.resolve(in: own) == nil)
    #expect(pair.other.resolve(foreign.reference)?.name == "other 1")
    #expect(try foreign.freeze().thaw(in: own) == nil)
    #expect(try foreign.freeze().thaw(in: pair.other)?.name == "other 1")
    #expect(try foreign.freeze() != mine.pets[0].freeze())
    #expect(own.resolve(foreign.snapshot().reference) == nil)
    #expect(foreign.reference != mine.pets[0].reference)
    #expect(!own.objects(KeptPet.self).contains(foreign))
    #expect(own.objects(KeptPet.self).firstIndex(of: foreign) == nil)
    #expect(!mine.pets.contains(foreign) && !mine.friends.contains(foreign))
    #expect(foreignKeeper.extra.object(KeptPet.self, in: own) == nil)
    #expect(foreignKeeper.pets.results(in: own).error?.code == .wrongStore)
    #expect(foreignKeeper.pets.results(in: own).isEmpty)
    let asked = own.objects(StoreKeeper.self)
    func refused(_ name: String, _ results: Results<StoreKeeper>) {
      #expect(results.error?.code == .wrongStore, "\(name)")
      #expect(results.isEmpty, "\(name)")
    }
    refused("a closure", asked.where { $0.best == foreign })
    refused("a closure that negates", asked.where { $0.best != foreign })
    refused("a text", asked.filter("best == %@", QueryArgument.object(foreign)))
    refused("a text with a quantifier", asked.filter("ANY pets == %@", QueryArgument.object(foreign)))
    refused("a text with a list", asked.filter("best IN %@", [QueryArgument.object(foreign)]))
    let sent = try #require(pair.other.objects(StoreKeeper.self).where { $0.best == foreign }.query)
    refused("a query from there", own.objects(StoreKeeper.self, matching: sent))
    refused("a binding", asked.filter(bind: foreignKeeper, \.name) { keeper, name in keeper.name == name }.results)
    #expect(asked.where { $0.best == mine.best }.count == 1)
    #expect(asked.where { $0.best == nil }.isEmpty)
    #expect(asked.filter("best == %@", QueryArgument.object(mine.pets[0])).count == 1)
  }

  @Test(arguments: Engine.allCases) func noConditionMatchesAMixedValueOfAnotherStore(engine: Engine) throws {
    let pair = try Pair(engine, misuse: .ignore)
    let asked = pair.own.objects(StoreKeeper.self)
    func ask(with extra: AnyValue, _ see: (String, Results<StoreKeeper>) -> Void) {
      let choices: [AnyValue] = [3, extra]
      let optionals: [AnyValue?] = [nil, extra]
      see("is", asked.where { $0.extra == extra })
      see("is not", asked.where { $0.extra != extra })
      see("is in", asked.where { $0.extra.in(choices) })
      see("is not in", asked.where { !$0.extra.in(choices) })
      see("is in a list", asked.where { $0.extras.contains(extra) })
      see("all of a list", asked.where { $0.extras.all == extra })
      see("none of a list", asked.where { $0.extras.none == extra })
      see("any of a list is in", asked.where { $0.extras.contains(anyOf: choices) })
      see("a list is", asked.where { $0.extras == choices })
      see("at a position", asked.where { $0.extras[0] == extra })
      see("at a position, in", asked.where { $0.extras.first.in(optionals) })
      see("is in a set", asked.where { $0.extraSet.contains(extra) })
      see("at a key", asked.where { $0.extraMap["rex"] == extra })
      see("not at a key", asked.where { $0.extraMap["rex"] != extra })
      see("is in a map", asked.where { $0.extraMap.contains(extra) })
      see("within", asked.where { $0.extra["a"] == extra })
      see("within a list", asked.where { $0.extra.elements == extra })
      see("a nested list", asked.where { $0.extra == [extra] })
      see("a nested map", asked.where { $0.extra == ["a": ["b": extra]] })
      see("a text", asked.filter("extra == %@", extra))
      see("a text with two sides", asked.filter("%@ == extra", extra))
      see("a text with a list", asked.filter("extra IN %@", choices))
      see("a text with a written list", asked.filter("extra IN {3, %@}", extra))
      see("a text with a quantifier", asked.filter("ALL extras == %@", extra))
    }
    ask(with: pair.foreignKeeper.extra) { name, results in
      #expect(results.error?.code == .wrongStore, "\(name): \(String(describing: results.error))")
      #expect(results.isEmpty, "\(name)")
    }
    ask(with: pair.keeper.extra) { name, results in #expect(results.error == nil, "\(name): \(String(describing: results.error))") }
    let mine = pair.keeper.extra
    #expect(asked.where { $0.extra == mine }.map(\.id) == [1] && asked.where { $0.extra != mine }.map(\.id) == [2, 3])
    #expect(asked.where { $0.extra.in([3, mine] as [AnyValue]) }.map(\.id) == [1])
    #expect(asked.where { $0.extras == [mine] }.map(\.id) == [1] && asked.where { $0.extraMap["rex"] == mine }.map(\.id) == [1])
    #expect(asked.where { $0.extras.first.in([nil, mine] as [AnyValue?]) }.map(\.id) == [1])
    #expect(asked.filter("extra IN %@", [3, mine] as [AnyValue]).map(\.id) == [1])
  }

  @Test(arguments: Engine.allCases) func noCollectionHoldsAMixedValueOfAnotherStore(engine: Engine) throws {
    let pair = try Pair(engine)
    let (mine, theirs) = (pair.keeper, pair.foreignKeeper.extra)
    #expect(mine.extra != theirs && mine.extra == mine.extras[0] && ["a": mine.extra] as AnyValue != ["a": theirs])
    #expect(!mine.extras.contains(theirs) && mine.extras.firstIndex(of: theirs) == nil && !mine.extraSet.contains(theirs))
    #expect(!mine.extraSet.isSubset(of: [theirs]) && !mine.extraSet.intersects([theirs]) && !mine.extraSet.isSuperset(of: [theirs]))
    let loose = LiveSet<AnyValue>([mine.extra])
    #expect(!loose.contains(theirs) && loose.contains(mine.extras[0]) && !loose.remove(theirs) && loose.count == 1)
    try pair.own.write {
      #expect(!mine.extraSet.remove(theirs))
      mine.extraSet.subtract([theirs])
    }
    #expect(mine.extraSet.count == 1)
    try pair.own.write { mine.extraSet.formIntersection([theirs]) }
    #expect(mine.extraSet.isEmpty)
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func aReferenceIsFoundAgainAfterItWasEncodedAndItsStoreClosed(engine: Engine) throws {
    let (configuration, directory) = engine.place([StoreKeeper.self, KeptPet.self])
    defer { withExtendedLifetime(directory) {} }
    let (data, identity) = try {
      let store = try Store(configuration)
      let keeper = StoreKeeper(id: 1, name: "Ann")
      try store.write { try store.add(keeper) }
      return (try JSONEncoder().encode(keeper.reference), store.identity)
    }()
    let store = try Store(configuration)
    let reference = try JSONDecoder().decode(ObjectReference<StoreKeeper>.self, from: data)
    #expect(store.identity == identity && reference.store == identity)
    #expect(store.resolve(reference)?.name == "Ann")
    #expect(try Pair(engine).own.resolve(reference) == nil)
  }

  @Test(arguments: Engine.allCases) func aTokenOfAnotherStoreIsNeitherSkippedNorMoved(engine: Engine) throws {
    let pair = try Pair(engine)
    var told: [[Int]] = []
    let token = pair.other.objects(KeptPet.self).observe { change in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        told.append([deletions.count, insertions.count, modifications.count])
      }
    }
    pair.other.refresh()
    try pair.own.beginWrite()
    try pair.own.add(KeptPet(name: "more"))
    try pair.own.commitWrite(withoutNotifying: [token])
    try pair.other.write { try pair.other.add(KeptPet(name: "there")) }
    pair.other.refresh()
    #expect(told == [[0, 1, 0]])
    token.stop()
  }
}
