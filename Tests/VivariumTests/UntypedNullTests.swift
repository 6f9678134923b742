import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Drawer {
  @PrimaryKey var number: Int
  var isOpen = false
  var extra: AnyValue
  var names: LiveList<String>
  var tags: LiveSet<String>
  var sizes: LiveMap<Int>
  var dogs: LiveList<Dog>
}

/// What `JSONSerialization`, property lists and Realm's `[String: Any]` give for nothing, for truth and for objects.
@Suite struct UntypedNullTests {
  private func makeDrawers() throws -> Store {
    var configuration = makeConfiguration()
    configuration.models.append(Drawer.self)
    return try Store(configuration)
  }

  private var full: [String: Any?] {
    ["number": 1, "names": ["a"], "tags": ["b"], "sizes": ["c": 3], "dogs": [["name": "Rex"]]]
  }

  @Test(arguments: [false, true]) func nothingEmptiesACollection(asNull: Bool) throws {
    let nothing: Any? = asNull ? NSNull() : nil
    let store = try makeDrawers()
    let drawer = try store.write { try store.create(Drawer.self, value: full) }
    #expect(drawer.names.count + drawer.tags.count + drawer.sizes.count + drawer.dogs.count == 4)
    try store.write { for name in ["names", "tags", "sizes", "dogs"] { try drawer.setValue(nothing, forKey: name) } }
    #expect(drawer.names.count + drawer.tags.count + drawer.sizes.count + drawer.dogs.count == 0)
    let other = try store.write {
      try store.create(
        Drawer.self, value: ["number": 2, "names": nothing, "tags": nothing, "sizes": nothing, "dogs": nothing] as [String: Any?])
    }
    #expect(other.names.isEmpty && other.tags.isEmpty && other.sizes.isEmpty && other.dogs.isEmpty)
    // In no store, too.
    let unmanaged = Drawer(number: 3)
    unmanaged.names = ["a"]
    unmanaged.sizes = ["c": 3]
    for name in ["names", "tags", "sizes", "dogs"] { try unmanaged.setValue(nothing, forKey: name) }
    #expect(unmanaged.names.isEmpty && unmanaged.sizes.isEmpty)
  }

  /// `JSONSerialization` gives unsigned numbers for integers that have no sign.
  @Test func anIntegerThatNeedsMoreThan64BitsIsRefusedAndNotMadeAnother() throws {
    let store = try makeDrawers()
    let drawer = try store.write {
      let sizes: [String: Any?] = ["a": NSNumber(value: UInt64(5))]
      return try store.create(Drawer.self, value: ["number": NSNumber(value: UInt64(7)), "sizes": sizes])
    }
    #expect(drawer.number == 7 && drawer.sizes["a"] == 5)
    let large = NSNumber(value: UInt64.max)
    try store.write {
      #expect(throws: StoreError.self) { try drawer.setValue(["a": large] as [String: Any?], forKey: "sizes") }
      #expect(throws: StoreError.self) { try drawer.setValue(large, forKey: "extra") }
      #expect(throws: StoreError.self) { _ = try store.create(Drawer.self, value: ["number": large]) }
    }
    #expect(drawer.sizes["a"] == 5 && store.objects(Drawer.self).map(\.number) == [7])
  }

  @Test func whatJSONSerializationGivesGoesIntoAMixedValue() throws {
    let store = try makeDrawers()
    let parsed = try JSONSerialization.jsonObject(with: Data(#"{"a": null, "b": [1, null, {"c": null}]}"#.utf8))
    let drawer = try store.write { try store.create(Drawer.self, value: ["number": 1, "extra": parsed]) }
    #expect(drawer.extra["a"]?.isNull == true && drawer.extra["b"]?[1]?.isNull == true)
    #expect(drawer.extra["b"]?[0]?.int == 1 && drawer.extra["b"]?[2]?["c"]?.isNull == true)
  }

  @Test func foundationsNumbersNoughtAndOneAreTruthValues() throws {
    let store = try makeDrawers()
    let drawer = try store.write { try store.create(Drawer.self, value: ["number": 1, "isOpen": NSNumber(value: 1)]) }
    #expect(drawer.isOpen)
    try store.write { try drawer.setValue(NSNumber(value: 0), forKey: "isOpen") }
    #expect(!drawer.isOpen)
    try store.write {
      #expect(throws: StoreError.self) { try drawer.setValue(NSNumber(value: 2), forKey: "isOpen") }
    }
    #expect(!drawer.isOpen)
  }

  @Test func anObjectGoesIntoAMixedProperty() throws {
    let (store, foreign) = (try makeDrawers(), try makeDrawers())
    let (dog, stranger) = (Dog(name: "Rex"), Dog(name: "Max"))
    try foreign.write { try foreign.add(stranger) }
    let drawer = try store.write {
      try store.add(dog)
      return try store.create(Drawer.self, value: ["number": 1, "extra": dog])
    }
    #expect(drawer.extra.object(Dog.self, in: store)?.name == "Rex")
    try store.write {
      try drawer.setValue(NSNull(), forKey: "extra")
      try drawer.setValue(dog, forKey: "extra")
      #expect { try drawer.setValue(stranger, forKey: "extra") } throws: { StoreError.Code.wrongStore ~= $0 }
      #expect { try drawer.setValue(Dog(), forKey: "extra") } throws: { StoreError.Code.notManaged ~= $0 }
    }
    #expect(drawer.extra.object(Dog.self, in: store)?.name == "Rex")
  }
}
