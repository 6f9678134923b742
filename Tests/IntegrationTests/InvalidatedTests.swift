import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// An object that is gone, and everything that can be done with it: zeroes, empty collections and typed errors.
@Suite struct InvalidatedTests {
  enum End: CaseIterable {
    /// By this store, in a write that is over, or that is still open.
    case deleted, deletedInThisWrite
    /// Added in a write that was undone.
    case undone
    /// By somebody else.
    case deletedElsewhere
  }

  private struct Undo: Error {}

  @Test(arguments: [Engine.reference, .lmdb, .sqlite], End.allCases)
  func everythingCanBeDoneWithAnObjectThatIsGone(engine: Engine, end: End) throws {
    let (configuration, directory) = engine.place(BadInputTests.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, other) = (try Store(configuration), try Store(configuration))
    let (leaf, friend) = (Leaf(name: "gone", number: 7), Leaf(name: "friend"))
    fill(leaf, friend)
    try store.write { try store.add(friend) }
    if end == .undone {
      #expect(throws: Undo.self) {
        try store.write {
          try store.add(leaf)
          throw Undo()
        }
      }
    } else {
      try store.write { try store.add(leaf) }
    }
    let (words, tags, notes, others, owners) = (leaf.words, leaf.tags, leaf.notes, leaf.others, friend.owners)
    let results = leaf.others.results(in: store)
    let (reference, before) = (leaf.reference, leaf.snapshot())
    switch end {
    case .deleted: try store.write { try store.delete(leaf) }
    case .deletedElsewhere:
      other.refresh()
      try other.write { if let same = other.object(Leaf.self, forPrimaryKey: "gone") { try other.delete(same) } }
      store.refresh()
    case .deletedInThisWrite: break
    case .undone:
      // The object is an unmanaged one again, or one that is gone: both are fine, and neither is in the store.
      if !leaf.isManaged { return #expect(leaf.number == 7 && store.objects(Leaf.self).count == 1) }
    }
    try store.write {
      if end == .deletedInThisWrite { try store.delete(leaf) }
      read(leaf)
      try refuse(leaf, friend, store)
      let refused = #expect(throws: StoreError.self) { try store.savepoint { edit(leaf, friend) } }
      #expect(refused?.code == .objectDeleted)
      #expect(words.isEmpty && tags.isEmpty && notes.isEmpty && others.isEmpty && results.isEmpty && owners.isEmpty)
      #expect(words.toArray() == [] && tags.toArray() == [] && notes.keys == [] && !tags.contains("t"))
      #expect(words.first == nil && tags.first == nil && notes["k"] == nil && words.description == "[]")
      let edits: [() -> Void] = [
        { words.append("more") }, { tags.insert("more") }, { notes["more"] = "x" },
        { others.append(Leaf(name: "via a list that is gone")) },
      ]
      for edit in edits {
        #expect(throws: StoreError.self) { try store.savepoint(edit) }
      }
      #expect(store.resolve(reference) == nil)
    }
    read(leaf)
    #expect(before.name == (end == .undone ? before.name : "gone"))
    #expect(friend.next == nil && friend.others.isEmpty && friend.byName.isEmpty)
    #expect(store.objects(Leaf.self).where { $0.name == "friend" }.count == 1 && store.objects(Stalk.self).isEmpty)
    #expect(store.objects(Leaf.self).allSatisfy { !$0.isInvalidated })
  }

  private func fill(_ leaf: Leaf, _ friend: Leaf) {
    leaf.words = ["w"]
    leaf.tags = ["t"]
    leaf.notes = ["k": "v"]
    leaf.others = [friend]
    leaf.friends = [friend]
    leaf.byName = ["f": friend]
    leaf.next = friend
    leaf.stalk = Stalk(length: 3)
    leaf.extra = ["a": 1]
  }

  private func read(_ leaf: Leaf) {
    #expect(leaf.isInvalidated && leaf.name == "" && leaf.number == 0 && leaf.ratio == nil && leaf.extra.isNull)
    #expect(leaf.next == nil && leaf.stalk == nil && leaf.others.isEmpty && leaf.words.isEmpty && leaf.owners.isEmpty)
    #expect(leaf.description == "Leaf(deleted)" && leaf == leaf && leaf.hashValue == leaf.hashValue && leaf["number"] == .null)
    #expect(leaf.snapshot().number == 0 && leaf.snapshot().unmanagedCopy().number == 0 && leaf["nope"] == nil)
    #expect(Array(leaf.owners).isEmpty && leaf.owners.results?.count == 0 && leaf.objectIdentifier.hasPrefix("Leaf-"))
    _ = (leaf.id, leaf.reference, leaf.store, leaf.isManaged)
  }

  /// Calls that can throw, throw.
  private func refuse(_ leaf: Leaf, _ friend: Leaf, _ store: Store) throws {
    let calls: [(String, () throws -> Void)] = [
      ("add", { try store.add(leaf) }), ("delete", { try store.delete(leaf) }), ("setValue", { try leaf.setValue(1, forKey: "number") }),
      ("setValue list", { try leaf.setValue(["x"], forKey: "words") }), ("value", { _ = try leaf.value(forKey: "number") }),
      ("path", { _ = try leaf.value(forKeyPath: "next.name") }), ("value of", { _ = try leaf.value(of: \.number) }),
      ("link", { try friend.setValue(leaf, forKey: "next") }), ("element", { try friend.setValue([leaf], forKey: "others") }),
      ("entry", { try friend.setValue(["k": leaf], forKey: "byName") }), ("encode", { _ = try JSONEncoder().encode(leaf) }),
      ("create", { try store.create(Leaf.self, value: ["name": "x", "next": leaf]) }), ("mixed", { try friend.setValue(try AnyValue(leaf), forKey: "extra") }),
    ]
    for (name, call) in calls {
      do {
        try call()
        Issue.record("\(name) did not throw")
      } catch {
        #expect((error as? StoreError)?.code == .objectDeleted, "\(name): \(error)")
      }
    }
    #expect(throws: StoreError.self) { try leaf.freeze() }
  }

  /// Setters cannot throw: they do nothing.
  private func edit(_ leaf: Leaf, _ friend: Leaf) {
    leaf.name = "x"
    leaf.number = 9
    leaf.ratio = 0.5
    leaf.extra = ["b": 2]
    leaf.next = friend
    leaf.stalk = Stalk(length: 1)
    leaf["number"] = .int(3)
    leaf.words.append("x")
    leaf.words.insert("x", at: 0)
    leaf.words[0] = "x"
    leaf.words.removeAll()
    leaf.words.remove(at: 0)
    leaf.words.move(from: 0, to: 0)
    leaf.words = ["y"]
    leaf.others.append(friend)
    leaf.others = [friend]
    leaf.tags.insert("x")
    leaf.tags.remove("t")
    leaf.tags.removeAll()
    leaf.tags = ["y"]
    leaf.notes["k"] = "x"
    leaf.notes["k"] = nil
    leaf.notes.removeAll()
    leaf.byName = ["k": friend]
    friend.next = leaf
    friend.others.append(leaf)
    friend.friends.insert(leaf)
    friend.byName["gone"] = leaf
  }

  @Test(arguments: [Engine.reference, .lmdb, .sqlite]) func whatIsObservedAndGoesIsToldOnceAndNeverAgain(engine: Engine) throws {
    let (configuration, directory) = engine.place(BadInputTests.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let leaf = Leaf(name: "gone")
    fill(leaf, Leaf(name: "friend"))
    try store.write { try store.add(leaf) }
    var told: [String] = []
    var tokens = [
      leaf.observe { told.append("object \($0)") }, leaf.words.observe { _ in told.append("list") },
      leaf.owners.results?.observe { _ in told.append("inverse") },
    ]
    store.refresh()
    told = []
    try store.write { try store.delete(leaf) }
    store.refresh()
    #expect(told.filter { $0.hasPrefix("object deleted") }.count == 1)
    told = []
    tokens.append(leaf.observe { told.append("late \($0)") })
    tokens.append(leaf.words.observe { _ in told.append("late list") })
    store.refresh()
    #expect(told.contains { $0.contains("objectDeleted") })
    told = []
    try store.write { try store.add(Leaf(name: "another")) }
    store.refresh()
    #expect(told.filter { $0.hasPrefix("object") || $0.hasPrefix("late") } == [])
    for token in tokens { token?.stop() }
  }

  @Test(arguments: [Engine.reference, .lmdb, .sqlite]) func aLinkByValueThatLeadsNowhereIsRefused(engine: Engine) throws {
    let (configuration, directory) = engine.place(BadInputTests.models)
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let leaf = Leaf(name: "a", stalk: Stalk(length: 1))
    try store.write { try store.add(leaf) }
    let dynamic = try #require(try store.dynamicObjects("Leaf").first)
    let stalk = try #require(leaf["stalk"])
    try store.write {
      for call: () throws -> Void in [
        { try dynamic.set("next", to: .link(ObjectKey(77))) }, { try dynamic.edit("others", .insert(at: 0, [.link(ObjectKey(77))])) },
        { try store.dynamicCreate("Leaf", ["name": .string("b"), "next": .link(ObjectKey(77))]) },
        { try store.create(Leaf.self, value: ["name": "b", "next": Value.link(ObjectKey(77))]) },
        { try store.dynamicCreate("Leaf", ["name": .string("b"), "stalk": stalk]) },
        { try store.dynamicCreate("Stalk", [:]) }, { try dynamic.set("number", to: .string("x")) }, { try dynamic.set("number", to: .null) },
      ] {
        #expect(throws: StoreError.self) { try call() }
      }
      let edits: [() -> Void] = [
        { leaf["next"] = .link(ObjectKey(77)) }, { leaf["others"] = .int(1) }, { dynamic["next"] = .link(ObjectKey(77)) },
      ]
      for edit in edits {
        #expect(throws: StoreError.self) { try store.savepoint(edit) }
      }
    }
    #expect(leaf.next == nil && leaf["next"] == .null && leaf.others.isEmpty && store.objects(Leaf.self).count == 1)
    #expect(store.objects(Stalk.self).count == 1)
  }
}
