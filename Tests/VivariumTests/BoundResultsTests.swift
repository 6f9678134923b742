import Foundation
import Observation
import QueryModel
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport

@testable import Vivarium

@Suite struct BoundResultsTests {
  /// Six dogs by name, ages 0 to 5, and settings: `flag` hides the young, `int` is an age, `maybeInt` another.
  private func kennel(misuse: MisusePolicy = .trapInDebug) throws -> (store: Store, settings: Everything) {
    let store = try makeStore(misuse: misuse)
    let settings = Everything(int: 2)
    try store.write {
      try store.add(settings)
      for (age, name) in ["f", "b", "d", "a", "e", "c"].enumerated() { try store.add(Dog(name: name, age: age)) }
    }
    return (store, settings)
  }

  private func shown(_ store: Store, _ settings: Everything) -> BoundResults<Dog> {
    store.objects(Dog.self).sorted(by: \.name).filter(bind: settings, \.flag) { dog, hides in hides ? dog.age > 2 : nil }
  }

  /// A list of names that is kept by what its observer hears.
  private final class Screen {
    var names: [String] = []
    var heard: [String] = []

    func take(_ change: CollectionChange<BoundResults<Dog>>) {
      switch change {
      case .initial(let dogs):
        names = dogs.map(\.name)
        heard.append("initial")
      case .update(let dogs, let deletions, let insertions, let modifications):
        for row in deletions.reversed() { names.remove(at: row) }
        for row in insertions { names.insert(dogs[row].name, at: row) }
        for row in modifications.new { names[row] = dogs[row].name }
        heard.append("-\(deletions) +\(insertions) *\(Array(modifications))")
        #expect(names == dogs.map(\.name))
      case .error(let error): heard.append("\(error.code)")
      }
    }
  }

  @Test func theResultsFollowTheProperty() throws {
    let (store, settings) = try kennel()
    let dogs = shown(store, settings)
    #expect(dogs.map(\.name) == ["a", "b", "c", "d", "e", "f"] && dogs.count == 6)
    try store.beginWrite()
    settings.flag = true
    #expect(dogs.map(\.name) == ["a", "c", "e"] && dogs.first?.name == "a" && dogs[2].name == "e")
    store.cancelWrite()
    #expect(dogs.count == 6)
    let older = store.objects(Dog.self).filter(bind: settings, \.int) { dog, age in dog.age >= age }
    #expect(older.map(\.age) == [2, 3, 4, 5] && older.results.format == "age >= 2")
    let both = older.filter(bind: settings, \.maybeInt) { dog, age in age.map { dog.age < $0 } }
    #expect(both.map(\.age) == [2, 3, 4, 5])
    try store.write { settings.maybeInt = 4 }
    #expect(both.map(\.age) == [2, 3])
    let evaluations = store.evaluationCount
    #expect(both.count == 2 && both.last?.age == 3)
    #expect(store.evaluationCount == evaluations)
  }

  @Test func oneTokenHearsTheDifferenceWhenThePropertyChanges() throws {
    let (store, settings) = try kennel()
    let (screen, dogs) = (Screen(), shown(store, settings))
    let token = dogs.observe { screen.take($0) }
    store.refresh()
    try store.write { settings.flag = true }
    store.refresh()
    #expect(screen.names == ["a", "c", "e"])
    // What is committed together is told together, and none of it is evaluated here.
    let evaluations = store.evaluationCount
    try store.write {
      settings.flag = false
      dogs.results.first?.name = "aa"
      try store.add(Dog(name: "g", age: 9))
    }
    let own = store.evaluationCount
    store.refresh()
    #expect(screen.names == ["aa", "b", "c", "d", "e", "f", "g"] && store.evaluationCount == own && own <= evaluations + 2)
    // As long as the property stays, a commit costs its rows.
    let before = store.notifierWork
    try store.write { store.objects(Dog.self).where { $0.name == "b" }.first?.name = "bb" }
    try store.write { settings.int = 7 }
    try store.write { settings.flag = false }
    store.refresh()
    let after = store.notifierWork
    #expect(after.rebuilds == before.rebuilds && after.evaluations == before.evaluations)
    #expect(screen.heard.first == "initial" && screen.heard.count == 4, "\(screen.heard)")
    #expect(screen.heard[1] == "-[1, 3, 5] +[] *[]")
    token.stop()
  }

  @Test func aValueThatLeavesTheRowsAsTheyAreIsNotTold() throws {
    let (store, settings) = try kennel()
    let other = try Store(store.configuration)
    let theirs = try #require(other.resolve(settings.reference))
    var heard = 0
    let token = store.objects(Dog.self).filter(bind: settings, \.int) { dog, age in dog.age >= age }.observe { _ in heard += 1 }
    store.refresh()
    try other.write { theirs.int = 1 }
    try other.write { theirs.int = 2 }
    store.refresh()
    #expect(heard == 1)
    try store.write { settings.int = 40 }
    store.refresh()
    try store.write { settings.int = 50 }
    store.refresh()
    #expect(heard == 2)
    token.stop()
  }

  @Test func whoeverWritesAndWhereTheTokenIsSkippedItHoldsToo() throws {
    let (store, settings) = try kennel()
    let other = try Store(store.configuration)
    let (screen, quiet) = (Screen(), Screen())
    let dogs = shown(store, settings)
    let tokens = [dogs.observe { screen.take($0) }, dogs.observe { quiet.take($0) }]
    store.refresh()
    try other.write { other.resolve(settings.reference)?.flag = true }
    store.refresh()
    #expect(screen.names == ["a", "c", "e"] && quiet.heard.count == 2)
    try store.beginWrite()
    settings.flag = false
    quiet.names = dogs.map(\.name)
    try store.commitWrite(withoutNotifying: [tokens[1]])
    store.refresh()
    #expect(screen.heard.last == "-[] +[1, 3, 5] *[]" && quiet.heard.count == 2)
    try store.write { try store.delete(store.objects(Dog.self).where { $0.name == "b" }) }
    store.refresh()
    #expect(quiet.heard.last == "-[1] +[] *[]" && quiet.names == ["a", "c", "d", "e", "f"])
    for token in tokens { token.stop() }
  }

  @Test func nothingPassesWhenTheObjectIsDeleted() throws {
    let (store, settings) = try kennel()
    let (screen, dogs) = (Screen(), shown(store, settings))
    let token = dogs.observe { screen.take($0) }
    store.refresh()
    try store.write { try store.delete(settings) }
    #expect(dogs.isEmpty && dogs.error == nil)
    store.refresh()
    #expect(screen.names.isEmpty && screen.heard == ["initial", "-[0, 1, 2, 3, 4, 5] +[] *[]"])
    token.stop()
  }

  @Test func whatCannotBeBoundIsSaid() throws {
    let (store, settings) = try kennel(misuse: .ignore)
    let unbindable = shown(store, Everything())
    #expect(unbindable.isEmpty && unbindable.error?.code == .wrongStore)
    let computed = store.objects(Dog.self).filter(bind: settings, \.string.count) { dog, count in dog.age == count }
    #expect(computed.isEmpty && computed.error?.code == .unknownProperty)
    let wrong = store.objects(Dog.self).filter("nonsense(").filter(bind: settings, \.flag) { dog, _ in dog.age > 2 }
    #expect(wrong.error?.code == .invalidQuery)
    for dogs in [unbindable, computed, wrong] {
      let screen = Screen()
      let token = dogs.observe { screen.take($0) }
      store.refresh()
      #expect(screen.heard.count == 1 && dogs.error.map { screen.heard == ["\($0.code)"] } == true)
      token.stop()
    }
  }

  @Test func windowsAndQuestionsThatAreAskedAgainAreBoundToo() throws {
    let (store, settings) = try kennel()
    let window = store.objects(Dog.self).sorted(by: \.name).limited(to: 4)
      .filter(bind: settings, \.int) { dog, age in dog.age >= age }
    let some = store.objects(Dog.self).distinct(by: \.name).filter(bind: settings, \.int) { dog, age in dog.age >= age }
    let (first, second) = (Screen(), Screen())
    let tokens = [window.observe { first.take($0) }, some.observe { second.take($0) }]
    store.refresh()
    for age in [4, 0, 3, 9, 1] {
      try store.write {
        settings.int = age
        store.objects(Dog.self).where { $0.age == 5 }.first?.name = "x\(age)"
      }
      store.refresh()
      #expect(first.names == window.map(\.name) && second.names == some.map(\.name))
    }
    for token in tokens { token.stop() }
  }

  @Test(arguments: 0..<8) func differencesAddUp(_ round: UInt64) throws {
    let (store, settings) = try kennel()
    let other = try Store(store.configuration)
    var random = SeededGenerator(seed: 77 + round)
    let screen = Screen()
    let dogs = store.objects(Dog.self).sorted(by: \.name).filter(bind: settings, \.flag) { dog, hides in hides ? dog.age > 2 : nil }
      .filter(bind: settings, \.int) { dog, age in dog.age != age }
    let token = dogs.observe { screen.take($0) }
    store.refresh()
    for step in 0..<60 {
      let writer = Bool.random(using: &random) ? store : other
      try writer.write {
        let there = writer.objects(Dog.self)
        let mine = try #require(writer.objects(Everything.self).first)
        if Int.random(in: 0..<3, using: &random) == 0 { mine.flag.toggle() }
        if Int.random(in: 0..<3, using: &random) == 0 { mine.int = Int.random(in: 0..<6, using: &random) }
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
          try writer.add(Dog(name: "n\(Int.random(in: 0..<40, using: &random))", age: Int.random(in: 0..<6, using: &random)))
        }
        if let dog = there.randomElement(using: &random) { dog.name = "m\(step % 17)" }
        if let dog = there.randomElement(using: &random) { dog.age = Int.random(in: 0..<6, using: &random) }
        if there.count > 12, let dog = there.randomElement(using: &random) { try writer.delete(dog) }
      }
      if Int.random(in: 0..<3, using: &random) > 0 { store.refresh() }
    }
    store.refresh()
    #expect(screen.names == dogs.map(\.name) && screen.heard.count > 5)
    token.stop()
  }

  @Test func readsOfTheBoundPropertyAreTracked() throws {
    let (store, settings) = try kennel()
    store.tracksReads = true
    let dogs = shown(store, settings)
    let changes = Mutex(0)
    withObservationTracking { _ = dogs.count } onChange: { changes.withLock { $0 += 1 } }
    try store.write { settings.flag = true }
    #expect(changes.withLock { $0 } == 1)
  }
}
