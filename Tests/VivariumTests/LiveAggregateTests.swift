import Foundation
import Testing
import Vivarium
import VivariumTestSupport

/// Numbers that are kept of results, and told when they are others.
@Suite struct LiveAggregateTests {
  let configuration = makeConfiguration()

  /// What an observer heard: "first 3", "3 > 5", "error overflow".
  private final class Ear<V> {
    private var calls: [String] = []

    func hear(_ change: AggregateChange<V>) {
      switch change {
      case .initial(let value): calls.append("first \(text(value))")
      case .update(let value, let old, _): calls.append("\(text(old)) > \(text(value))")
      case .error(let error): calls.append("error \(error.code.rawValue)")
      }
    }

    private func text(_ value: V) -> String {
      let mirror = Mirror(reflecting: value)
      guard mirror.displayStyle == .optional else { return "\(value)" }
      return mirror.children.first.map { "\($0.value)" } ?? "nil"
    }

    func take() -> [String] {
      defer { calls = [] }
      return calls
    }
  }

  @Test func theCountIsToldWhenItIsAnotherOne() throws {
    let (store, other) = (try Store(configuration), try Store(configuration))
    try store.write { for age in 1...5 { try store.add(Dog(name: "\(age)", age: age)) } }
    let ear = Ear<Int>()
    let token = store.objects(Dog.self).where { $0.age > 2 }.observe(.count) { ear.hear($0) }
    #expect(ear.take() == [])
    store.refresh()
    #expect(ear.take() == ["first 3"])
    other.refresh()
    // One goes and one comes: the same number.
    try other.write {
      other.objects(Dog.self).where { $0.age == 5 }[0].age = 1
      try other.add(Dog(age: 9))
      other.objects(Dog.self).where { $0.age == 4 }[0].name = "x"
    }
    store.refresh()
    #expect(ear.take() == [])
    try other.write { try other.delete(other.objects(Dog.self).where { $0.age > 3 }) }
    try other.write { try other.add(Dog(age: 3)) }
    store.refresh()
    #expect(ear.take() == ["3 > 2"])
    token.stop()
    try other.write { try other.deleteAll() }
    store.refresh()
    #expect(ear.take() == [])
  }

  @Test func sumsMeansAndExtremesFollowEveryCommit() throws {
    let store = try Store(configuration)
    let dogs = store.objects(Dog.self).where { $0.name != "out" }
    let (sum, mean, least, most) = (Ear<Int>(), Ear<Double?>(), Ear<Int?>(), Ear<Int?>())
    let tokens = [
      dogs.observe(.sum(of: \.age)) { sum.hear($0) },
      dogs.observe(.average(of: \.age)) { mean.hear($0) },
      dogs.observe(.min(of: \.age)) { least.hear($0) },
      dogs.observe(.max(of: \.age)) { most.hear($0) },
    ]
    store.refresh()
    #expect(sum.take() == ["first 0"] && mean.take() == ["first nil"])
    #expect(least.take() == ["first nil"] && most.take() == ["first nil"])
    let (a, b) = (Dog(name: "a", age: 2), Dog(name: "b", age: 6))
    try store.write { try store.add([a, b]) }
    store.refresh()
    #expect(sum.take() == ["0 > 8"] && mean.take() == ["nil > 4.0"])
    #expect(least.take() == ["nil > 2"] && most.take() == ["nil > 6"])
    try store.write { a.name = "other" }
    store.refresh()
    #expect(sum.take() + mean.take() + least.take() + most.take() == [])
    try store.write { b.name = "out" }
    store.refresh()
    #expect(sum.take() == ["8 > 2"] && mean.take() == ["4.0 > 2.0"])
    #expect(least.take() == [] && most.take() == ["6 > 2"])
    // The mean stays what it is.
    try store.write { try store.add(Dog(name: "c", age: 2)) }
    store.refresh()
    #expect(sum.take() == ["2 > 4"] && mean.take() + least.take() + most.take() == [])
    try store.write { try store.deleteAll() }
    store.refresh()
    #expect(sum.take() == ["4 > 0"] && mean.take() == ["2.0 > nil"])
    #expect(least.take() == ["2 > nil"] && most.take() == ["2 > nil"])
    for token in tokens { token.stop() }
  }

  @Test func nullAndNaNArePassedOver() throws {
    let store = try Store(configuration)
    let all = store.objects(Everything.self)
    let (sum, mean, least) = (Ear<Double>(), Ear<Double?>(), Ear<Double?>())
    let date = Ear<Date?>()
    let tokens = [
      all.observe(.sum(of: \.double)) { sum.hear($0) }, all.observe(.average(of: \.maybeDouble)) { mean.hear($0) },
      all.observe(.min(of: \.maybeDouble)) { least.hear($0) }, all.observe(.max(of: \.maybeDate)) { date.hear($0) },
    ]
    store.refresh()
    #expect(sum.take() == ["first 0.0"] && least.take() == ["first nil"])
    #expect(mean.take() == ["first nil"] && date.take() == ["first nil"])
    let (a, b, c) = (Everything(), Everything(), Everything())
    (a.double, b.double, c.double) = (0.1, 0.2, 1e300)
    (a.maybeDouble, b.maybeDouble) = (.nan, 3)
    b.maybeDate = Date(timeIntervalSinceReferenceDate: 5)
    try store.write { try store.add([a, b, c]) }
    store.refresh()
    #expect(sum.take() == ["0.0 > 1e+300"] && least.take() == ["nil > 3.0"])
    #expect(mean.take() == ["nil > nan"] && date.take().count == 1)
    try store.write {
      try store.delete(c)
      a.maybeDouble = nil
    }
    store.refresh()
    // Nothing is left of what was so large.
    #expect(sum.take() == ["1e+300 > 0.30000000000000004"] && mean.take() == ["nan > 3.0"] && least.take() == [])
    for token in tokens { token.stop() }
  }

  @Test func aSumThatDoesNotFitSaysSoUntilItDoes() throws {
    let store = try Store(configuration)
    let ear = Ear<Int>()
    let token = store.objects(Dog.self).observe(.sum(of: \.age)) { ear.hear($0) }
    let dog = Dog(age: .max)
    try store.write { try store.add([dog, Dog(age: 1)]) }
    store.refresh()
    // What a write begins from is told before it.
    #expect(ear.take() == ["first 0", "error overflow"])
    try store.write { dog.age = 4 }
    store.refresh()
    #expect(ear.take() == ["0 > 5"])
    token.stop()
  }

  /// Whoever shows that there is no number has to hear that there is one.
  @Test func aSumThatFitsAgainIsToldThoughItIsTheOneOfBefore() throws {
    let store = try Store(configuration)
    let ear = Ear<Int>()
    let (one, other) = (Dog(age: 1), Dog(age: 0))
    try store.write { try store.add([one, other]) }
    let token = store.objects(Dog.self).observe(.sum(of: \.age)) { ear.hear($0) }
    store.refresh()
    try store.write { other.age = .max }
    store.refresh()
    #expect(ear.take() == ["first 1", "error overflow"])
    // Another one that does not fit is nothing new.
    try store.write { one.age = 2 }
    store.refresh()
    #expect(ear.take() == [])
    try store.write { (one.age, other.age) = (1, 0) }
    store.refresh()
    #expect(ear.take() == ["1 > 1"])
    try store.write { one.age = 3 }
    store.refresh()
    #expect(ear.take() == ["1 > 3"])
    token.stop()
  }

  @Test func whatIsNoNumberOrCannotBeAskedIsTold() throws {
    let store = try Store(makeConfiguration(misuse: .ignore))
    let (wrong, none) = (Ear<String?>(), Ear<Int>())
    let tokens = [
      store.objects(Everything.self).observe(.max(of: \.string)) { wrong.hear($0) },
      store.objects(Dog.self).filter("nonsense(").observe(.count) { none.hear($0) },
    ]
    store.refresh()
    #expect(wrong.take() == ["error typeMismatch"] && none.take().first?.hasPrefix("error") == true)
    for token in tokens { token.stop() }
  }

  @Test func aSkippedCommitIsNotToldAndTheNextLeadsOnFromIt() throws {
    let store = try Store(configuration)
    try store.write { try store.add(Dog(age: 1)) }
    let (skipping, hearing) = (Ear<Int>(), Ear<Int>())
    let dogs = store.objects(Dog.self)
    let token = dogs.observe(.sum(of: \.age)) { skipping.hear($0) }
    let other = dogs.observe(.sum(of: \.age)) { hearing.hear($0) }
    store.refresh()
    try store.write(withoutNotifying: [token]) { try store.add(Dog(age: 2)) }
    store.refresh()
    #expect(skipping.take() == ["first 1"] && hearing.take() == ["first 1", "1 > 3"])
    try store.write { try store.add(Dog(age: 4)) }
    store.refresh()
    #expect(skipping.take() == ["3 > 7"] && hearing.take() == ["3 > 7"])
    token.ignore(author: "me")
    try store.write(author: "me") { try store.add(Dog(age: 8)) }
    store.refresh()
    #expect(skipping.take() == [] && hearing.take() == ["7 > 15"])
    token.stop()
    other.stop()
  }

  @Test func aWindowsAndAListsNumbersAreKeptToo() throws {
    let store = try Store(configuration)
    let person = Person(name: "Ann")
    try store.write {
      try store.add(person)
      for age in 1...6 { person.dogs.append(Dog(age: age)) }
    }
    let (window, list, most) = (Ear<Int>(), Ear<Int>(), Ear<Int?>())
    let top = store.objects(Dog.self).sorted(by: \.age, ascending: false).limited(to: 2)
    let tokens = [
      top.observe(.sum(of: \.age)) { window.hear($0) }, top.observe(.max(of: \.age)) { most.hear($0) },
      person.dogs.results(in: store).observe(.sum(of: \.age)) { list.hear($0) },
    ]
    store.refresh()
    #expect(window.take() == ["first 11"] && list.take() == ["first 21"] && most.take() == ["first 6"])
    try store.write { person.dogs.append(Dog(age: 7)) }
    store.refresh()
    #expect(window.take() == ["11 > 13"] && list.take() == ["21 > 28"] && most.take() == ["6 > 7"])
    try store.write {
      person.dogs.remove(at: 0)
      store.objects(Dog.self).where { $0.age == 3 }[0].age = 4
    }
    store.refresh()
    #expect(window.take() + list.take() + most.take() == [])
    for token in tokens { token.stop() }
  }

  /// Cost follows the change: what is counted is work, and the first look is the only one at everything.
  @Test func aCommitCostsTheRowsItTouched() throws {
    let store = try Store(configuration)
    try store.write { for i in 0..<2_000 { try store.add(Dog(name: "\(i % 2)", age: i)) } }
    let dogs = store.objects(Dog.self).where { $0.name == "1" }
    var told = 0
    let tokens = [
      dogs.observe(.count) { _ in told += 1 }, dogs.observe(.sum(of: \.age)) { _ in told += 1 },
      dogs.observe(.average(of: \.age)) { _ in told += 1 }, dogs.observe(.min(of: \.age)) { _ in told += 1 },
      dogs.observe(.max(of: \.age)) { _ in told += 1 },
    ]
    store.refresh()
    // A sum and a mean are kept together.
    let first = store.notifierWork
    #expect(told == 5 && first.evaluations == 4 && first.results == 4 && first.valuesRead == 0)
    let all = store.objects(Dog.self)
    for i in 0..<20 { try store.write { all[i * 7].age += 1 } }
    store.refresh()
    let work = store.notifierWork
    #expect(work.evaluations == first.evaluations && work.rebuilds == 0)
    #expect(work.rowsTested - first.rowsTested <= 20 * 4)
    #expect(work.valuesRead - first.valuesRead <= 20 * 4)
    // What cannot change a number costs nothing.
    try store.write { try store.add(Person(name: "Ann")) }
    store.refresh()
    #expect(store.notifierWork.rowsTested == work.rowsTested && store.notifierWork.valuesRead == work.valuesRead)
    for token in tokens { token.stop() }
  }

  /// Random histories: what was told last is what a look at everything gives.
  @Test func whatWasToldLastIsWhatALookAtEverythingGives() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_AGGREGATES", default: 12) {
      let configuration = makeConfiguration()
      let (store, other) = (try Store(configuration), try Store(configuration))
      var dogs = store.objects(Dog.self)
      if random.oneIn(2) { dogs = dogs.where { $0.age > 3 } }
      if random.oneIn(3) { dogs = dogs.sorted(by: \.age).limited(to: 1 + random.below(4)) }
      var (count, sum, mean): (Int?, Int?, Double??) = (nil, nil, nil)
      var (least, most): (Int??, Int??) = (nil, nil)
      let tokens = [
        dogs.observe(.count) { count = $0.value }, dogs.observe(.sum(of: \.age)) { sum = $0.value },
        dogs.observe(.average(of: \.age)) { mean = $0.value }, dogs.observe(.min(of: \.age)) { least = $0.value },
        dogs.observe(.max(of: \.age)) { most = $0.value },
      ]
      store.refresh()
      for _ in 0..<25 {
        let writer = random.oneIn(2) ? store : other
        try writer.write {
          let all = writer.objects(Dog.self)
          for _ in 0..<1 + random.below(3) {
            if all.count < 3 || random.oneIn(3) { try writer.add(Dog(age: random.below(9))) } else {
              let dog = all[random.below(all.count)]
              if random.oneIn(3) { try writer.delete(dog) } else { dog.age = random.below(9) }
            }
          }
        }
        guard random.oneIn(2) else { continue }
        store.refresh()
        let (total, average) = (try dogs.sum(of: \.age), try dogs.average(of: \.age))
        let (low, high) = (try dogs.min(of: \.age), try dogs.max(of: \.age))
        #expect(count == dogs.count && sum == total && mean == average && least == low && most == high)
      }
      for token in tokens { token.stop() }
    }
  }
}
