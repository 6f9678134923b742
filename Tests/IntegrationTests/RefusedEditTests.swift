import Foundation
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Account {
  @PrimaryKey var id = 0
  @Unique var email = ""
  var best: Badge?
  var badges: LiveList<Badge>
  var friends: LiveSet<Badge>
  var byName: LiveMap<Badge>
  var scores: LiveList<Int>
  var visits = 0
  var rank: Int?
}

@Model final class Badge {
  @PrimaryKey var id = 0
  var next: Badge?
}

/// Edits that cannot throw where they are made: what is refused has no effect at all, and ends the write with its error. Under the
/// policy that programs have by default.
@Suite struct RefusedEditTests {
  private func makeStore(_ engine: Engine) throws -> (store: Store, place: TemporaryDirectory) {
    var (configuration, place) = engine.place([Account.self, Badge.self])
    configuration.misuse = .trapInDebug
    let store = try Store(configuration)
    try store.write {
      try store.add(Account(id: 1, email: "one"))
      let second = Account(id: 2, email: "two")
      try store.add(second)
      second.scores.append(contentsOf: [1, 2, 3])
      try store.add(Badge(id: 2))
    }
    return (store, place)
  }

  private func state(_ store: Store) -> [String] {
    let accounts = store.objects(Account.self).map { account in
      let links = account.badges.map(\.id) + account.friends.map(\.id) + account.byName.map(\.value.id)
      return "\(account.id) \(account.email) \(account.best?.id ?? 0) \(links) \(account.scores.toArray())"
    }
    return accounts + store.objects(Badge.self).map { "\($0.id) \($0.next?.id ?? 0)" }
  }

  private func error(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  /// Edits of the first account and the code that each is refused with.
  private func forEachRefusedEdit(_ store: Store, _ body: (String, StoreError.Code, (Account) -> Void) throws -> Void) rethrows {
    try body("append a taken key", .primaryKeyExists) { $0.badges.append(contentsOf: [Badge(id: 1), Badge(id: 2)]) }
    try body("append a taken key behind a link", .primaryKeyExists) { $0.badges.append(Badge(id: 1, next: Badge(id: 2))) }
    try body("link a taken key", .primaryKeyExists) { $0.best = Badge(id: 2) }
    try body("a member with a taken key", .primaryKeyExists) { $0.friends.insert(Badge(id: 2)) }
    try body("an entry with a taken key", .primaryKeyExists) { $0.byName["a"] = Badge(id: 2) }
    try body("assign a list", .primaryKeyExists) { $0.badges = [Badge(id: 1), Badge(id: 2)] }
    try body("assign a set", .primaryKeyExists) { $0.friends = [Badge(id: 1), Badge(id: 2)] }
    try body("assign a map", .primaryKeyExists) { $0.byName = ["a": Badge(id: 1), "b": Badge(id: 2)] }
    try body("a unique value", .uniqueViolation) { $0.email = "two" }
    try body("a unique value by name", .uniqueViolation) { $0["email"] = .string("two") }
    try body("the primary key", .primaryKeyIsFixed) { $0.id = 7 }
    try body("insert outside", .indexOutOfRange) { $0.badges.insert(Badge(id: 1), at: 200) }
    try body("set outside", .indexOutOfRange) { $0.badges[7] = Badge(id: 1) }
    try body("replace outside", .indexOutOfRange) { $0.badges.replaceSubrange(0..<200, with: [Badge(id: 1)]) }
    try body("replace a part outside", .indexOutOfRange) { $0.scores[1..<4] = LiveList([5, 6])[0..<2] }
    try body("remove outside", .indexOutOfRange) { $0.scores.remove(at: 5) }
    try body("remove the first of none", .indexOutOfRange) { $0.badges.removeFirst() }
    try body("remove where no position is", .indexOutOfRange) { $0.scores.remove(at: -1) }
    try body("the primary key of another", .primaryKeyIsFixed) { $0.id = 2 }
    try body("move outside", .indexOutOfRange) { $0.scores.move(from: 0, to: 9) }
    try body("swap outside", .indexOutOfRange) { $0.scores.swapAt(0, 9) }
  }

  @Test(arguments: Engine.allCases) func aWriteInWhichAnEditWasRefusedThrowsAndChangesNothing(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    let (before, version) = (state(store), store.version)
    forEachRefusedEdit(store) { name, code, edit in
      let thrown = error {
        try store.write {
          account.scores.append(9)
          edit(account)
          account.best = nil
        }
      }
      #expect(thrown?.code == code, "\(name): \(thrown.map { "\($0)" } ?? "nothing thrown")")
      #expect(state(store) == before && store.version == version, "\(name)")
      #expect(!store.isInWriteTransaction, "\(name)")
    }
  }

  @Test(arguments: Engine.allCases) func whatARefusedEditWouldHaveAddedIsUnmanagedAgain(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    let (first, linked, outside) = (Badge(id: 1), Badge(id: 5, next: Badge(id: 2)), Badge(id: 6))
    let thrown = error {
      try store.write {
        account.badges.append(contentsOf: [first, Badge(id: 2)])
        #expect(!first.isManaged && store.objects(Badge.self).count == 1 && account.badges.isEmpty)
        account.best = linked
        #expect(!linked.isManaged && account.best == nil)
        account.badges.insert(outside, at: 9)
        #expect(!outside.isManaged && store.objects(Badge.self).count == 1)
      }
    }
    #expect(thrown?.code == .primaryKeyExists)
    try store.write { account.badges.append(contentsOf: [first, outside]) }
    #expect(account.badges.map(\.id) == [1, 6])
  }

  @Test(arguments: Engine.allCases) func aSetOrAMapIsReplacedAsAWholeOrNotAtAll(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    let taken = try #require(store.object(Badge.self, forPrimaryKey: 2))
    try store.write {
      account.friends.insert(taken)
      account.byName["old"] = taken
    }
    let (first, second) = (Badge(id: 1), Badge(id: 3))
    let thrown = error {
      try store.write {
        account.friends = [first, Badge(id: 2)]
        #expect(!first.isManaged && account.friends.map(\.id) == [2])
        account.friends.formUnion([first, Badge(id: 2)])
        #expect(!first.isManaged && account.friends.map(\.id) == [2])
        account.byName = ["a": second, "b": Badge(id: 2)]
        #expect(!second.isManaged && account.byName.keys == ["old"])
        account.byName.merge([("a", second), ("b", Badge(id: 2))])
        #expect(!second.isManaged && account.byName.keys == ["old"])
      }
    }
    #expect(thrown?.code == .primaryKeyExists)
    // They can be given again.
    try store.write {
      account.friends = [first]
      account.byName = ["a": second]
    }
    #expect(account.friends.map(\.id) == [1] && account.byName.map(\.value.id) == [3])
  }

  @Test(arguments: Engine.allCases) func aSavepointUndoesItsPartAndTheWriteGoesOn(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    try store.write {
      forEachRefusedEdit(store) { name, code, edit in
        let thrown = error {
          try store.savepoint {
            account.scores.append(9)
            edit(account)
          }
        }
        #expect(thrown?.code == code, "\(name)")
        #expect(account.scores.isEmpty && store.objects(Badge.self).count == 1, "\(name)")
      }
      account.scores.append(4)
    }
    #expect(account.scores.toArray() == [4])
    // What was refused before a savepoint is not forgotten by it.
    let thrown = error {
      try store.write {
        account.email = "two"
        try store.savepoint { account.scores.append(5) }
      }
    }
    #expect(thrown?.code == .uniqueViolation)
    #expect(account.scores.toArray() == [4])
  }

  @Test(arguments: Engine.allCases) func theThrowingFormsRefuseOneEditAndTheWriteGoesOn(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    try store.write {
      #expect(error { try account.set(\.email, to: "two") }?.code == .uniqueViolation)
      #expect(error { try account.set(\.best, to: Badge(id: 2)) }?.code == .primaryKeyExists)
      #expect(error { try account.set(\.friends, to: [Badge(id: 1), Badge(id: 2)]) }?.code == .primaryKeyExists)
      #expect(error { try account.badges.edit { $0.append(contentsOf: [Badge(id: 1), Badge(id: 2)]) } }?.code == .primaryKeyExists)
      #expect(error { try account.friends.edit { $0.formUnion([Badge(id: 1), Badge(id: 2)]) } }?.code == .primaryKeyExists)
      #expect(error { try account.byName.edit { $0["a"] = Badge(id: 2) } }?.code == .primaryKeyExists)
      try account.set(\.email, to: "three")
      try account.badges.edit { $0.append(Badge(id: 3)) }
    }
    #expect(account.email == "three" && account.badges.map(\.id) == [3])
    #expect(account.friends.isEmpty && account.byName.isEmpty && store.objects(Badge.self).count == 2)
    #expect(error { try account.set(\.email, to: "four") }?.code == .notInWrite)
  }

  @Test(arguments: Engine.allCases) func everyWayToCommitThrowsWhatWasRefused(engine: Engine) async throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    try store.beginWrite()
    account.email = "two"
    #expect(error { try store.commitWrite() }?.code == .uniqueViolation)
    #expect(!store.isInWriteTransaction && account.email == "one")
    try store.beginWrite()
    account.email = "two"
    #expect(error { try store.commitAsyncWrite() }?.code == .uniqueViolation)
    #expect(!store.isInWriteTransaction && account.email == "one")
    var code: StoreError.Code?
    do {
      try await store.configuration.write { store in store.object(Account.self, forPrimaryKey: 1)?.email = "two" }
    } catch {
      code = (error as? StoreError)?.code
    }
    if engine != .reference { #expect(code == .uniqueViolation) }
    // A write that is given up says nothing.
    try store.beginWrite()
    account.email = "two"
    store.cancelWrite()
    try store.write { account.email = "five" }
    #expect(account.email == "five")
  }

  @Test func theErrorNamesTheLineOfTheEdit() throws {
    let (store, place) = try makeStore(.memory)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    let taken = try #require(store.object(Badge.self, forPrimaryKey: 2))
    try store.write { account.friends.insert(taken) }
    func expect(_ line: Int, _ edit: (Account) throws -> Void) {
      let thrown = error { try store.write { try edit(account) } }
      let said = "IntegrationTests/RefusedEditTests.swift:\(line)"
      #expect(thrown?.details["edit"] == said && thrown?.message.hasSuffix(" Edited at \(said).") == true, "\(String(describing: thrown))")
    }
    expect(#line) { $0.badges.append(Badge(id: 2)) }
    expect(#line) { $0.badges.append(contentsOf: [Badge(id: 2)]) }
    expect(#line) { $0.badges.insert(Badge(id: 1), at: 9) }
    expect(#line) { $0.badges.insert(contentsOf: [Badge(id: 1)], at: 9) }
    expect(#line) { $0.badges[7] = Badge(id: 1) }
    expect(#line) { $0.scores[1..<4] = LiveList([5, 6])[0..<2] }
    expect(#line) { $0.badges.replaceSubrange(0..<9, with: [Badge(id: 1)]) }
    expect(#line) { $0.scores.remove(at: 5) }
    expect(#line) { $0.scores.remove(at: -1) }
    expect(#line) { $0.scores.removeFirst() }
    expect(#line) { $0.scores.removeLast() }
    expect(#line) { $0.scores.removeSubrange(0..<1) }
    expect(#line) { $0.scores.move(from: 0, to: 9) }
    expect(#line) { $0.scores.swapAt(0, 9) }
    expect(#line) { $0.friends.insert(Badge(id: 2)) }
    expect(#line) { $0.friends.formUnion([Badge(id: 2)]) }
    expect(#line) { $0.byName["a"] = Badge(id: 2) }
    expect(#line) { $0.byName.merge([("a", Badge(id: 2))]) }
    expect(#line) { $0.byName.merge([("a", Badge(id: 2))]) { $1 } }
    expect(#line) { account in try account.badges.edit { $0.append(Badge(id: 2)) } }
    expect(#line) { account in try account.byName.edit { $0["a"] = Badge(id: 2) } }
    let ofNothing: [(Int, (Account) -> Void)] = [
      (#line, { $0.badges.removeAll() }), (#line, { $0.friends.remove(taken) }), (#line, { $0.friends.removeAll() }),
      (#line, { $0.byName.removeValue(forKey: "a") }), (#line, { $0.byName["a"] = nil }), (#line, { $0.byName.removeAll() }),
      (#line, { $0.increment(\.visits) }), (#line, { $0.increment(\.rank) }),
    ]
    for (line, edit) in ofNothing {
      expect(line) { account in
        try store.delete(account)
        edit(account)
      }
    }
  }

  @Test func theErrorOfAnAssignmentNamesTheLineOfItsWrite() throws {
    let (store, place) = try makeStore(.memory)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    let edits: [() -> Void] = [
      { account.email = "two" }, { account.friends = [Badge(id: 2)] }, { account.badges += [Badge(id: 2)] },
    ]
    for edit in edits {
      let (thrown, line) = (error { try store.write { edit() } }, #line)
      let said = "IntegrationTests/RefusedEditTests.swift:\(line)"
      #expect(thrown?.details["write"] == said && thrown?.details["edit"] == nil, "\(String(describing: thrown))")
    }
  }

  /// What the protocols of the standard library promise of lists, also where the line is of no interest.
  @Test func genericCodeFunctionsAndKeyPathsEditListsAndMaps() throws {
    let (store, place) = try makeStore(.memory)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 2))
    func edit(_ list: inout some RangeReplaceableCollection<Int> & MutableCollection & RandomAccessCollection) {
      list.append(4)
      list.append(contentsOf: [5, 6])
      list.insert(0, at: list.startIndex)
      list.removeFirst()
      list.removeLast()
      list.swapAt(list.startIndex, list.index(after: list.startIndex))
    }
    try store.write {
      edit(&account.scores)
      [7, 8].forEach(account.scores.append)
      account[keyPath: \Account.scores[0]] = 9
      account[keyPath: \Account.byName["a"]] = Badge(id: 5)
    }
    #expect(account.scores.toArray() == [9, 1, 3, 4, 5, 7, 8] && account.byName["a"]?.id == 5)
    #expect(\Account.scores[1] == \Account.scores[1] && \Account.byName["a"] == \Account.byName["a"])
  }

  @Test(arguments: Engine.allCases) func settingAnObjectThatIsGoneEndsTheWriteAndNotTheProcess(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 1))
    let badge = Badge(id: 9)
    let thrown = error {
      try store.write {
        try store.delete(account)
        account.badges.append(badge)
        account.email = "x"
      }
    }
    #expect(thrown?.code == .objectDeleted)
    #expect(!badge.isManaged && !account.isInvalidated && store.objects(Badge.self).count == 1)
  }

  @Test(arguments: Engine.allCases) func aPartOfAListIsReplacedByAsManyAsAreGiven(engine: Engine) throws {
    let (store, place) = try makeStore(engine)
    defer { withExtendedLifetime(place) {} }
    let account = try #require(store.object(Account.self, forPrimaryKey: 2))
    let other: LiveList<Int> = [7, 8, 9, 10]
    try store.write { account.scores[0..<2] = other[0..<4] }
    #expect(account.scores.toArray() == [7, 8, 9, 10, 3])
    try store.write { account.scores[1..<4] = other[0..<1] }
    #expect(account.scores.toArray() == [7, 7, 3])
    let unmanaged: LiveList<Int> = [1, 2, 3]
    unmanaged[1..<2] = account.scores[0..<2]
    #expect(unmanaged.toArray() == [1, 7, 7, 3])
  }
}
