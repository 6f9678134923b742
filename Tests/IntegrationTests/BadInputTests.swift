import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Leaf {
  @PrimaryKey var name = ""
  var number = 0
  var tiny: Int8 = 0
  var ratio: Double?
  var born: Date?
  var cover: Data?
  var mark: UUID?
  var next: Leaf?
  var others: LiveList<Leaf>
  var friends: LiveSet<Leaf>
  var byName: LiveMap<Leaf>
  var words: LiveList<String>
  var tags: LiveSet<String>
  var notes: LiveMap<String>
  var extra: AnyValue
  var stalk: Stalk?
  @Inverse(\Leaf.others) var owners: LinkingObjects<Leaf>
}

@Model(.embedded) final class Stalk { var length = 0 }

@Model final class Rooted {
  @Unique var label = ""
  @Indexed var text = ""
}

/// Whatever data can be wrong with: a typed error, nothing changed, and the store goes on.
@Suite struct BadInputTests {
  static let models: [any SchemaDescribing.Type] = [Leaf.self, Stalk.self, Rooted.self]

  private func makeStore(_ engine: Engine) throws -> (store: Store, directory: TemporaryDirectory) {
    let (configuration, directory) = engine.place(Self.models)
    return (try Store(configuration), directory)
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code ?? StoreError.Code(rawValue: "foreign: \(error)")
    }
  }

  /// Nothing stayed of what was refused, and the next write is as ever.
  private func expectUsable(_ store: Store, leaves: Int = 0) throws {
    #expect(store.objects(Leaf.self).count == leaves && store.objects(Stalk.self).isEmpty)
    try store.write { try store.add(Leaf(name: "after")) }
    try store.write { try store.delete(store.objects(Leaf.self).where { $0.name == "after" }) }
    #expect(store.objects(Leaf.self).count == leaves)
  }

  @Test func jsonThatIsNoneOrOfAnotherShapeIsRefused() throws {
    let (store, _) = try makeStore(.reference)
    let documents = [
      "", "{", "[", "nul", "3", "\"x\"", "[1]", "[[]]", "[null]", "{\"name\":}", "{\"name\":\"a\",\"number\":\"x\"}",
      "{\"name\":\"a\",\"number\":1.5}", "{\"name\":\"a\",\"number\":1e400}", "{\"name\":\"a\",\"number\":99999999999999999999}",
      "{\"name\":\"a\",\"tiny\":128}", "{\"name\":null}", "{\"name\":[\"a\"]}", "{\"name\":\"a\",\"nope\":1}",
      "{\"name\":\"a\",\"next\":3}", "{\"name\":\"a\",\"next\":[]}", "{\"name\":\"a\",\"next\":{\"$ref\":9}}",
      "{\"name\":\"a\",\"next\":{\"$ref\":\"Leaf-none\"}}", "{\"name\":\"a\",\"next\":{\"$ref\":{}}}", "{\"name\":\"a\",\"others\":{}}",
      "{\"name\":\"a\",\"others\":[null]}", "{\"name\":\"a\",\"others\":[3]}", "{\"name\":\"a\",\"others\":[{\"name\":\"b\"},{\"name\":\"b\"}]}",
      "{\"name\":\"a\",\"words\":[1]}", "{\"name\":\"a\",\"words\":\"x\"}", "{\"name\":\"a\",\"notes\":[]}", "{\"name\":\"a\",\"notes\":{\"k\":1}}",
      "{\"name\":\"a\",\"byName\":{\"k\":{\"nope\":1}}}", "{\"name\":\"a\",\"born\":\"yesterday\"}", "{\"name\":\"a\",\"cover\":\"***\"}",
      "{\"name\":\"a\",\"mark\":\"1234\"}", "{\"name\":\"a\",\"stalk\":{\"length\":\"long\"}}", "{\"name\":\"a\",\"owners\":3,\"number\":\"x\"}",
      "{\"name\":\"a\"}{", "\u{FEFF}{\"name\":1}", "[{\"name\":\"a\"},{\"name\":\"a\"}]",
      String(repeating: "[", count: 100_000), String(repeating: "{\"next\":", count: 100_000),
    ]
    for document in documents {
      let found = code { try store.write { _ = try store.create(Leaf.self, json: Data(document.utf8)) } }
      #expect(found != nil && found?.rawValue.hasPrefix("foreign") == false, "\(document.prefix(60)): \(String(describing: found))")
      #expect(throws: (any Error).self, "\(document.prefix(60))") {
        // Decoding alone takes what only a store can refuse.
        if document.contains("nope") || document.contains("128") { throw CancellationError() }
        if document.hasPrefix("{\"name\":\"a\",\"others\":[{") || document.contains("owners") { throw CancellationError() }
        _ = try JSONDecoder().decode(Leaf.self, from: Data(document.utf8))
      }
    }
    try expectUsable(store)
  }

  @Test func valuesOfAnotherTypeAreRefusedByName() throws {
    let (store, _) = try makeStore(.reference)
    let values: [(String, Any?)] = [
      ("name", 3), ("name", ["a"]), ("name", nil), ("number", "1"), ("number", 1.5), ("number", Double.nan), ("number", UInt64.max),
      ("number", true), ("tiny", 128), ("tiny", -129), ("ratio", "0.5"), ("born", "soon"), ("born", Data()), ("cover", "%"), ("mark", 7),
      ("next", "x"), ("next", Rooted()), ("next", ["number": 1, "nope": 2]), ("next", Value.link(ObjectKey(99))), ("others", [Rooted()]),
      ("others", ["a": 1]), ("others", [nil] as [Any?]), ("others", 3), ("friends", [3]), ("byName", ["k": 3]), ("byName", [1]),
      ("words", [3]), ("words", [nil] as [Any?]), ("tags", "x"), ("tags", [nil] as [Any?]), ("notes", ["k": nil] as [String: Any?]),
      ("extra", Rooted()), ("extra", Date.self), ("stalk", ["length": "x"]), ("stalk", 1), ("owners", [Any]()), ("nope", 1), ("", 1), ("~1", 1),
    ]
    let leaf = Leaf(name: "known")
    try store.write { try store.add(leaf) }
    for (name, value) in values {
      var given: [String: Any?] = ["name": "new"]
      given[name] = .some(value)
      let created = code { try store.write { _ = try store.create(Leaf.self, value: given) } }
      if name != "owners" { #expect(created != nil, "create \(name) \(String(describing: value))") }
      let set = code { try store.write { try leaf.setValue(value, forKey: name) } }
      #expect(set != nil && set?.rawValue.hasPrefix("foreign") == false, "set \(name) \(String(describing: value)): \(String(describing: set))")
      let unmanaged = code { try Leaf().setValue(value, forKey: name) }
      if !("\(value ?? "")".contains("link")) { #expect(unmanaged != nil, "unmanaged \(name) \(String(describing: value))") }
      try store.write { try store.delete(store.objects(Leaf.self).where { $0.name == "new" }) }
    }
    #expect(leaf.name == "known" && leaf.number == 0 && leaf.next == nil && leaf.others.isEmpty && leaf.notes.isEmpty)
    #expect(store.objects(Rooted.self).isEmpty)
    try expectUsable(store, leaves: 1)
  }

  @Test func whatNestsDeeperThanAStackIsRefusedOrCut() throws {
    let (store, _) = try makeStore(.reference)
    var chain: [String: Any?] = ["name": "end"]
    for number in 0..<3_000 { chain = ["name": "\(number)", "next": chain] }
    #expect(code { try store.write { _ = try store.create(Leaf.self, value: chain) } } == .typeMismatch)
    #expect(code { try Leaf().setValue(chain, forKey: "next") } == .typeMismatch)
    var list: Any = 1
    for _ in 0..<3_000 { list = [list] }
    #expect(code { try store.write { _ = try store.create(Leaf.self, value: ["name": "a", "extra": list]) } } == .typeMismatch)
    #expect(code { try store.write { _ = try store.create(Leaf.self, value: ["name": "a", "extra": ScalarSamples.nested(101)]) } } == .typeMismatch)
    let leaf = Leaf(name: "mixed")
    try store.write { try store.add(leaf) }
    #expect(code { try store.write { leaf.extra = AnyValue(ScalarSamples.nested(500)) } } == .typeMismatch)
    #expect(leaf.extra.isNull)
    try store.write { try store.delete(leaf) }
    // Objects that lead to each other may be as many as they like.
    var first: Leaf?
    for number in 0..<5_000 { first = Leaf(name: "\(number)", next: first) }
    let end = try #require(first)
    try store.write { try store.add(end) }
    let json = try JSONEncoder().encode(end.encodable(depth: .max))
    #expect(String(decoding: json, as: UTF8.self).contains("\"$ref\":\"Leaf-4898\""))
    try store.write { try store.deleteAll() }
    try expectUsable(store)
  }

  @Test(arguments: Engine.allCases) func hugeValuesAreKeptOrRefused(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let text = String(repeating: "0123456789", count: 1 << 17)
    let store = try Store(configuration)
    var kept: [String] = []
    let attempts: [(String, () throws -> Void)] = [
      ("key", { try store.add(Leaf(name: text)) }), ("unique", { try store.add(Rooted(label: text)) }),
      ("indexed", { try store.add(Rooted(label: "i", text: text)) }),
      ("word", { let leaf = Leaf(name: "w"); leaf.words = [text]; try store.add(leaf) }),
      ("member", { let leaf = Leaf(name: "m"); leaf.tags = [text]; try store.add(leaf) }),
      ("map key", { let leaf = Leaf(name: "k"); leaf.notes = [text: "v"]; try store.add(leaf) }),
      ("map value", { let leaf = Leaf(name: "v"); leaf.notes = ["v": text]; try store.add(leaf) }),
      ("mixed", { try store.add(Leaf(name: "x", extra: AnyValue(.list([.string(text), .string(text)])))) }),
      ("data", { try store.add(Leaf(name: "d", cover: Data(repeating: 1, count: 16 << 20))) }),
    ]
    for (name, attempt) in attempts {
      let found = code { try store.write { try attempt() } }
      #expect(found == nil || found == .tooLarge, "\(name): \(String(describing: found))")
      if found == nil { kept.append(name) }
    }
    #expect(kept.contains("word") && kept.contains("map value") && kept.contains("mixed") && kept.contains("data"))
    if kept.contains("key") { #expect(store.object(Leaf.self, forPrimaryKey: text)?.name == text) }
    if kept.contains("indexed") { #expect(store.objects(Rooted.self).where { $0.text == text }.count == 1) }
    if kept.contains("member") { #expect(store.object(Leaf.self, forPrimaryKey: "m")?.tags.contains(text) == true) }
    if kept.contains("map key") { #expect(store.object(Leaf.self, forPrimaryKey: "k")?.notes[text] == "v") }
    #expect(store.object(Leaf.self, forPrimaryKey: "w")?.words.first == text)
    #expect(store.object(Leaf.self, forPrimaryKey: "d")?.cover?.count == 16 << 20)
    try store.write { try store.deleteAll() }
    try expectUsable(store)
  }

  @Test(arguments: Engine.allCases) func namesAreTheSameWhenTheirBytesAre(engine: Engine) throws {
    let (store, directory) = try makeStore(engine)
    defer { withExtendedLifetime(directory) {} }
    let names = ["", "\0", "a", "a\0", "a\0b", "é", "e\u{301}", " a", "A", "\u{FEFF}a"]
    try store.write {
      for (number, name) in names.enumerated() {
        let leaf = Leaf(name: name, number: number)
        leaf.notes = ["": "empty", "\0": "nul", "é": "one", "e\u{301}": "two"]
        leaf.tags = ["é", "e\u{301}", "", "\0"]
        try store.add(leaf)
      }
    }
    for (number, name) in names.enumerated() {
      let leaf = try #require(store.object(Leaf.self, forPrimaryKey: name))
      #expect(leaf.number == number && leaf.name.utf8.elementsEqual(name.utf8))
      #expect(leaf.notes.count == 4 && leaf.tags.count == 4 && leaf.notes["é"] == "one" && leaf.notes["e\u{301}"] == "two")
      #expect(leaf.tags.contains("e\u{301}") && leaf.tags.contains("\0"))
    }
    let leaf = try #require(store.object(Leaf.self, forPrimaryKey: "a"))
    try store.write {
      leaf.notes["é"] = nil
      leaf.tags.remove("e\u{301}")
      try leaf.setValue(["e\u{301}": "kept", "new": "n"], forKey: "notes")
    }
    #expect(leaf.notes.keys == ["e\u{301}", "new"] && leaf.notes["é"] == nil && leaf.tags.contains("é") && leaf.tags.count == 3)
    try store.write { try leaf.setValue(["é": "other"], forKey: "notes") }
    #expect(leaf.notes.keys.map { Array($0.utf8) } == [Array("é".utf8)] && leaf.notes.count == 1)
    #expect(code { try store.write { try store.add(Leaf(name: "a\0")) } } == .primaryKeyExists)
  }

  @Test(arguments: Engine.allCases) func whatIsWalkedMayBeDeletedMeanwhile(engine: Engine) throws {
    let (store, directory) = try makeStore(engine)
    defer { withExtendedLifetime(directory) {} }
    let root = Leaf(name: "root")
    func fill() throws {
      try store.write {
        for number in 0..<20 {
          let leaf = Leaf(name: "\(number)", number: number)
          root.others.append(leaf)
          root.friends.insert(leaf)
          root.byName["\(number)"] = leaf
        }
      }
    }
    func seen(_ body: () throws -> Int) throws -> Int {
      try fill()
      let count = try store.write { try body() }
      #expect(store.objects(Leaf.self).count == 1 && root.others.isEmpty && root.friends.isEmpty && root.byName.isEmpty)
      return count
    }
    try store.write { try store.add(root) }
    func drain(_ leaves: some Sequence<Leaf>) throws -> Int {
      var count = 0
      for leaf in leaves where leaf != root {
        count += 1
        try store.delete(leaf)
      }
      return count
    }
    #expect(try seen { try drain(store.objects(Leaf.self)) } == 20)
    #expect(try seen { try drain(store.objects(Leaf.self).where { $0.number >= 0 }.sorted(by: \.number, ascending: false)) } == 20)
    #expect(try seen { try drain(root.others) } == 20)
    #expect(try seen { try drain(root.friends) } == 20)
    #expect(try seen { try drain(root.byName.lazy.map(\.value)) } == 20)
    // Everything at the first: the rest is passed over, or there and gone.
    let met = try seen {
      var names: [String] = []
      for leaf in store.objects(Leaf.self).where({ $0.name != "root" }) {
        names.append(leaf.name)
        try store.delete(store.objects(Leaf.self).where { $0.name != "root" })
      }
      return names == ["0"] ? 1 : names.count + 100
    }
    let unread = try seen {
      var count = 0
      for leaf in root.others {
        if !leaf.isInvalidated { try store.delete(root.others) } else if leaf.name != "" { count += 1 }
      }
      return count
    }
    #expect(met == 1 && unread == 0)
    try fill()
    try store.write {
      for leaf in root.others { root.others.remove(at: root.others.firstIndex(of: leaf) ?? 99) }
      for (key, _) in root.byName { root.byName[key] = nil }
      for leaf in root.friends { root.friends.remove(leaf) }
    }
    #expect(store.objects(Leaf.self).count == 21 && root.others.isEmpty && root.byName.isEmpty && root.friends.isEmpty)
  }

  @Test(arguments: Engine.allCases) func positionsOutsideAreErrorsNotTheEnd(engine: Engine) throws {
    let (store, directory) = try makeStore(engine)
    defer { withExtendedLifetime(directory) {} }
    let leaf = Leaf(name: "a")
    try store.write { try store.add(leaf) }
    func refused(_ edit: () -> Void) { #expect(code { try store.savepoint(edit) } == .indexOutOfRange) }
    func poke(_ count: Int) throws {
      try store.write {
        for position in [-1, count, Int.max, Int.min] {
          #expect(leaf.words[position] == "" && leaf.others[position].isInvalidated && leaf.tags[position] == "")
          refused { leaf.words[position] = "x" }
          refused { leaf.words.remove(at: position) }
          refused { leaf.words.move(from: position, to: 0) }
          if position != 0 { refused { leaf.words.swapAt(0, position) } }
          if position != count { refused { leaf.words.insert("x", at: position) } }
          _ = store.objects(Rooted.self)[position]
        }
        refused { leaf.words.removeSubrange(count..<count + 5) }
        refused { leaf.words.replaceSubrange(count + 3..<count + 5, with: [] as [String]) }
        leaf.words.removeFirst(0)
        leaf.words.removeLast(-3)
      }
      #expect(leaf.words.count == count)
    }
    try poke(0)
    try store.write {
      refused { #expect(leaf.words.removeFirst() == "") }
      refused { #expect(leaf.words.removeLast() == "") }
      refused { #expect(leaf.others.removeLast().isInvalidated) }
      leaf.words.append(contentsOf: ["p", "q", "r"])
    }
    try poke(3)
    #expect(leaf.words.toArray() == ["p", "q", "r"])
    try store.write {
      #expect(leaf.words.removeFirst() == "p" && leaf.words.removeLast() == "r")
      leaf.words.removeFirst(9)
    }
    #expect(leaf.words.isEmpty)
  }
}
