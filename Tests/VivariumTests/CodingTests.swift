import Foundation
import StoreValues
import Testing
import VivariumTestSupport

@testable import Vivarium

@Model final class Titled {
  @PrimaryKey var title = ""
  var next: Titled?
  var extra: AnyValue
}

@Suite struct CodingTests {
  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test(arguments: [false, true]) func anObjectIsEncodedWithWhatItLinksTo(managed: Bool) throws {
    let store = try makeStore()
    let chain = Node(label: 1, next: Node(label: 2))
    if managed { try store.write { try store.add(chain) } }
    #expect(try json(chain) == #"{"label":1,"next":{"label":2,"next":null}}"#)
  }

  /// JSON has one of the keys that Swift takes for one: with its own value, not with another one's.
  @Test func ofKeysThatSwiftTakesForOneTheLastEntryOfAMixedMapIsEncoded() throws {
    let entries = [("e\u{301}", "two"), ("\u{E9}", "one")].map { ValueMap.Entry($0.0, .string($0.1)) }
    let value = Value.map(ValueMap(entries))
    let node = try JSONNode(value, in: nil)
    guard case .map(let read) = Value(mixed: node) else { throw CocoaError(.coderInvalidValue) }
    #expect(read.entries.map { Array($0.key.utf8) } == [Array("\u{E9}".utf8)] && read.entries.map(\.value) == [.string("one")])
  }

  @Test func aCycleEndsInAReferenceAndComesBack() throws {
    let store = try makeStore()
    let ring = Node(label: 1)
    ring.next = Node(label: 2, next: ring)
    try store.write { try store.add(ring) }
    let text = try json(ring)
    #expect(text == ##"{"$id":1,"label":1,"next":{"label":2,"next":{"$ref":1}}}"##)
    let read = try JSONDecoder().decode(Node.self, from: Data(text.utf8))
    #expect(!read.isManaged && read.next?.label == 2 && read.next?.next === read)
    let other = try makeStore()
    let made = try other.write { try other.create(Node.self, json: Data(text.utf8)).map(\.reference) }
    let node = try #require(other.resolve(made[0]))
    #expect(node.next?.next == node && other.objects(Node.self).count == 2)
  }

  @Test func aLineOfADumpIsAnObjectToCreate() throws {
    let store = try makeStore()
    try store.write { try store.add(Dog(name: "Rex")) }
    let id = UUID()
    let line = #"{"$id":"Person-\#(id)","id":"\#(id)","name":"Ann","age":41,"nick":null,"best":{"$ref":"Dog-1"},"dogs":[{"$ref":"Dog-1"}]}"#
    let made = try store.write { try store.create(Person.self, json: Data(line.utf8))[0].reference }
    let ann = try #require(store.resolve(made))
    #expect(ann.id == id && ann.age == 41 && ann.best?.name == "Rex" && ann.dogs.map(\.name) == ["Rex"])
  }

  /// Also one whose first character is a mark, which with the hyphen before it is one character.
  @Test(arguments: ["Ann", "", "-", "a-b", "\u{301}a", "\u{200D}", "\u{FE0F}x", "e\u{301}"])
  func aReferenceNamesAnObjectByAnyKey(_ key: String) throws {
    let store = try Store(.reference(nil, models: [Titled.self]))
    try store.write { try store.add(Titled(title: key)) }
    let reference = try #require(store.object(Titled.self, forPrimaryKey: key)).objectIdentifier
    #expect(reference.utf8.elementsEqual("Titled-\(key)".utf8))
    let text = #"{"title":"new","next":{"$ref":"\#(reference)"},"extra":{"$ref":"\#(reference)"}}"#
    let made = try store.write { try store.create(Titled.self, json: Data(text.utf8))[0].reference }
    let object = try #require(store.resolve(made))
    #expect(object.next?.title.utf8.elementsEqual(key.utf8) == true)
    #expect(object.extra.object(Titled.self, in: store)?.title.utf8.elementsEqual(key.utf8) == true)
    #expect(store.objects(Titled.self).count == 2)
  }

  @Test func theDepthEndsWithIdentifiersThatTheStoreFinds() throws {
    let store = try makeStore()
    let chain = Node(label: 1, next: Node(label: 2, next: Node(label: 3)))
    try store.write { try store.add(chain) }
    let text = try json(chain.encodable(depth: 1))
    #expect(text == ##"{"label":1,"next":{"label":2,"next":{"$ref":"Node-3"}}}"##)
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Node.self, from: Data(text.utf8)) }
    let copy = try store.write { try store.create(Node.self, json: Data(text.utf8))[0].reference }
    #expect(store.resolve(copy)?.next?.next == chain.next?.next && store.objects(Node.self).count == 5)
    #expect(throws: StoreError.self) {
      let other = try makeStore()
      try other.write { try other.create(Node.self, json: Data(text.utf8)) }
    }
  }

  @Test func everyTypeGoesThroughJSONAndBack() throws {
    let store = try makeStore()
    let object = Everything(
      flag: true, int: .min, int8: .min, int16: .max, int32: .min, int64: .max, float: 0.1, double: -0.1,
      string: "日本\u{1}\"x", data: Data([0, 255]), date: Date(timeIntervalSinceReferenceDate: 0.1), uuid: UUID(),
      mood: .wild, rank: .high)
    object.maybeMood = .wild
    object.maybeData = Data([1])
    try store.write { try store.add(object) }
    let data = try JSONEncoder().encode(object)
    let read = try JSONDecoder().decode(Everything.self, from: data)
    for property in Everything._$schema.properties {
      #expect(read.snapshot()[property.name] == object.snapshot()[property.name], "\(property.name)")
    }
    let made = try store.write { try store.create(Everything.self, json: data)[0].reference }
    let copy = try #require(store.resolve(made))
    for property in Everything._$schema.properties {
      #expect(copy[property.name] == object[property.name], "\(property.name)")
    }
  }

  @Test func whatIsReadCreatesOrUpdates() throws {
    let store = try makeStore()
    let person = Person(name: "Jane", age: 30)
    person.dogs = [Dog(name: "Rex")]
    try store.write { try store.add(person) }
    let text = #"{"id":"\#(person.id)","age":31,"unknown":1}"#
    let read = try JSONDecoder().decode(Person.self, from: Data(text.utf8))
    #expect(read.age == 31 && read.id == person.id && read.name == "")
    try store.write { try store.add(read, update: .modified) }
    #expect(person.age == 31 && person.name == "" && store.objects(Person.self).count == 1)
  }

  @Test func createWithAnUpdateKeepsWhatIsNotNamed() throws {
    let store = try makeStore()
    let person = Person(name: "Jane", age: 30, best: Dog(name: "Rex"))
    person.dogs = [Dog(name: "Fido")]
    try store.write { try store.add(person) }
    let text = #"[{"id":"\#(person.id)","age":31},{"id":"\#(UUID())","name":"New","dogs":[{"name":"Max"}]}]"#
    let made = try store.write { try store.create(Person.self, json: Data(text.utf8), update: .modified).map(\.reference) }
    #expect(store.resolve(made[0]) == person && person.age == 31 && person.name == "Jane" && person.best?.name == "Rex")
    #expect(person.dogs.map(\.name) == ["Fido"] && store.resolve(made[1])?.dogs.map(\.name) == ["Max"])
    #expect(throws: StoreError.self) { try store.write { try store.create(Person.self, json: Data(text.utf8)) } }
  }

  @Test func modifiedWritesOnlyWhatDiffersNestedToo() throws {
    let store = try makeStore()
    let message = Message(number: 1, shout: "a")
    try store.write { try store.add(message) }
    let version = store.version
    try store.write {
      try store.create(Message.self, value: ["number": 1, "code": "A", "text": "…"], update: .modified)
      try store.create(Message.self, value: ["number": 1, "code": "A"], update: .all)
    }
    #expect(store.version == version)
    try store.write { try store.create(Message.self, value: ["number": 1, "text": "!"], update: .all) }
    #expect(message.text == "!" && message.code == "A" && store.version > version)
  }

  @Test func aFailedCreateLeavesNothingOfItsNestedObjects() throws {
    let store = try makeStore()
    try store.write {
      #expect(throws: StoreError.self) {
        try store.create(Person.self, value: ["name": "Jane", "best": ["name": "Rex"], "dogs": [["name": 3]]])
      }
      #expect(throws: StoreError.self) { try store.create(Person.self, json: Data("[1]".utf8)) }
      #expect(throws: StoreError.self) { try store.create(Person.self, json: Data("{".utf8)) }
    }
    #expect(store.objects(Dog.self).isEmpty && store.objects(Person.self).isEmpty)
  }

  @Test func resultsEncodeAsAnArray() throws {
    let store = try makeStore()
    try store.write { for label in 1...2 { try store.add(Node(label: label)) } }
    #expect(try json(store.objects(Node.self)) == #"[{"label":1,"next":null},{"label":2,"next":null}]"#)
  }

  @Test func aDeletedObjectIsNotEncoded() throws {
    let store = try makeStore()
    let node = Node(label: 1)
    try store.write { try store.add(node) }
    try store.write { try store.delete(node) }
    #expect(throws: StoreError.self) { try json(node) }
  }
}
