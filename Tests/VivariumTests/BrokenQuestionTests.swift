import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// Questions that cannot be answered.
@Suite struct BrokenQuestionTests {
  /// `isSkipping`: the commit is not told to somebody else.
  @Test(arguments: [false, true]) func oneThatFailsIsAskedOnce(isSkipping: Bool) throws {
    let gate = Gate()
    var configuration = makeConfiguration()
    configuration.backend = configuration.backend.behind(gate)
    let (asking, writing) = (try Desk(configuration), try Desk(configuration))
    let errors = Mailbox<Bool>(empty: false)
    try asking.use { store in
      asking.tokens.append(
        store.objects(Dog.self).distinct(by: \.age).observe { change in
          if case .error = change { errors.send(true) } else { errors.send(false) }
        })
    }
    #expect(errors.next() == false)
    try writing.use { store in
      let person = Person(name: "Ann")
      try store.write { try store.add(person) }
      writing.tokens.append(person.observe { _ in })
    }
    try writing.settle()
    try writing.use { store in
      let dog = Dog(name: "Rex", age: 1)
      gate.isBroken.store(true, ordering: .releasing)
      try store.write(withoutNotifying: isSkipping ? writing.tokens : []) { try store.add(dog) }
    }
    #expect(errors.next())
    #expect(gate.refusals.load(ordering: .relaxed) == 1)
    gate.isBroken.store(false, ordering: .releasing)
    for desk in [asking, writing] { try desk.use { _ in for token in desk.tokens { token.stop() } } }
  }

  /// What observers know is what it was before the write, whichever question it could not answer.
  @Test func aSkippingCommitThatFailsAsksNothingAgain() throws {
    let gate = Gate()
    var configuration = makeConfiguration()
    configuration.backend = configuration.backend.behind(gate)
    let (asking, writing) = (try Desk(configuration), try Desk(configuration))
    let heard = Mailbox<String>(empty: "nothing")
    try asking.use { store in
      asking.tokens.append(
        store.objects(Dog.self).distinct(by: \.age).observe { change in
          switch change {
          case .initial(let dogs): heard.send("initial \(dogs.count)")
          case .update(let dogs, _, _, _): heard.send("update \(dogs.count)")
          case .error: heard.send("error")
          }
        })
    }
    #expect(heard.next() == "initial 0")
    try writing.use { store in
      let person = Person(name: "Ann")
      try store.write { try store.add(person) }
      writing.tokens.append(person.observe { _ in })
    }
    try writing.settle()
    try writing.use { store in
      gate.isBroken.store(true, ordering: .releasing)
      gate.refusesCommits.store(true, ordering: .releasing)
      #expect(throws: StoreError.self) {
        try store.write(withoutNotifying: writing.tokens) { try store.add(Dog(name: "Rex", age: 1)) }
      }
      gate.refusesCommits.store(false, ordering: .releasing)
    }
    #expect(gate.refusals.load(ordering: .relaxed) == 1)
    gate.isBroken.store(false, ordering: .releasing)
    try asking.settle()
    try writing.use { store in try store.write { try store.add(Dog(name: "Bo", age: 2)) } }
    #expect(heard.next() == "update 1")
    for desk in [asking, writing] { try desk.use { _ in for token in desk.tokens { token.stop() } } }
  }
}
