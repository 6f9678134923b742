import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Shop {
  @PrimaryKey var id = ObjectId()
  var price: Decimal128 = 0
  var discount: Decimal128?
  var extra: AnyValue
  var extras: LiveList<AnyValue>
  var tags: LiveSet<String>
  var sizes: LiveSet<Int>
  var friends: LiveSet<Shop>
  var phones: LiveMap<String>
  var staff: LiveMap<Clerk>
  var anything: LiveMap<AnyValue>
  var place: Place?
  var branches: LiveList<Place>
  var offices: LiveMap<Place>
  @Inverse(\Shop.friends) var befriendedBy: LinkingObjects<Shop>
}

@Model final class Clerk {
  var name = ""
  @Inverse(\Shop.staff) var shops: LinkingObjects<Shop>
}

@Model(.embedded) final class Place {
  var city = ""
  var room: Room?
  @Inverse(\Shop.branches) var shop: Shop?
}

@Model(.embedded) final class Room { var number = 0 }

private func makeShopStore() throws -> Store {
  var configuration = StoreConfiguration.reference(nil, models: [Shop.self, Clerk.self, Place.self, Room.self])
  configuration.manualDelivery = true
  return try Store(configuration)
}

@Suite struct CollectionTypeTests {
  /// Marks that combine with the quote before them, or take the one behind them, and what looks like the grammar.
  private static let oddKeys = [
    "home", "", " ", "\u{301}a", "a\u{600}", "\u{1F3FD}", "\u{200D}", "it's", "a']", "['a", "[0]", "[*]", "@count", "@keys", "a.b",
    "e\u{301}", "\u{E9}", "\\", "\"", "\r\n", "%@", "$0", "size", "length",
  ]

  @Test(arguments: CollectionTypeTests.oddKeys) func everyKeyOfAMapCanBeAskedForInEveryDoor(_ key: String) throws {
    let store = try makeShopStore()
    let (shop, other) = (Shop(), Shop())
    shop.phones[key] = "12"
    shop.anything[key] = 5
    shop.extra = AnyValue(.map(ValueMap([ValueMap.Entry(key, .int(7))])))
    other.phones["elsewhere"] = "12"
    try store.write { try store.add([shop, other]) }
    let shops = store.objects(Shop.self)
    func expect(_ name: String, _ found: Results<Shop>) {
      #expect(found.map(\.id) == [shop.id], "\(name): \(String(describing: found.error))")
      let again = shops.filter(found.format)
      #expect(again.map(\.id) == [shop.id], "\(name): \(found.format), \(String(describing: again.error))")
    }
    expect("a closure", shops.where { $0.phones[key] == "12" })
    expect("a text", shops.filter("phones[%@] == '12'", key))
    expect("a closure, mixed values", shops.where { $0.anything[key] == 5 })
    expect("a closure, a mixed map", shops.where { $0.extra[key] == 7 })
    expect("a text, a mixed map", shops.filter("extra[%@] == 7", key))
    expect("keys", shops.where { $0.phones.keys.contains(key) })
    #expect(shops.sorted { $0.phones[key] }.map(\.id) == [other.id, shop.id])
  }

  @Test(arguments: [false, true]) func aSetHoldsEachValueOnce(managed: Bool) throws {
    let store = try makeShopStore()
    let shop = Shop()
    try store.beginWrite()
    if managed { try store.add(shop) }
    #expect(shop.tags.insert("b") && shop.tags.insert("a") && !shop.tags.insert("b"))
    shop.tags.formUnion(["c", "a"])
    #expect(Set(shop.tags) == ["a", "b", "c"] && shop.tags.count == 3 && shop.tags.contains("c"))
    #expect(shop.tags.remove("b") && !shop.tags.remove("x") && !shop.tags.contains("b"))
    shop.tags.formIntersection(["c", "d"])
    #expect(shop.tags.toArray() == ["c"])
    shop.sizes = [3, 1, 2, 3]
    #expect(Set(shop.sizes) == [1, 2, 3] && shop.sizes.count == 3)
    if managed { #expect(shop.sizes.toArray() == [1, 2, 3] && shop.sizes[1] == 2) }
    let other = Shop()
    shop.friends.insert(other)
    #expect(shop.friends.contains(other) && !shop.friends.insert(other) && shop.friends.count == 1)
    if managed { #expect(other.isManaged && other.befriendedBy.first == shop) }
    shop.tags.removeAll()
    #expect(shop.tags.isEmpty)
    store.cancelWrite()
  }

  @Test(arguments: [false, true]) func aMapHoldsAValueAKey(managed: Bool) throws {
    let store = try makeShopStore()
    let shop = Shop()
    try store.beginWrite()
    if managed { try store.add(shop) }
    shop.phones["home"] = "1"
    shop.phones["é"] = "2"
    shop.phones["home"] = "3"
    #expect(shop.phones["home"] == "3" && shop.phones["work"] == nil && shop.phones.count == 2)
    #expect(shop.phones.keys == ["home", "é"] && shop.phones.values == ["3", "2"])
    shop.phones.removeValue(forKey: "home")
    #expect(shop.phones.map(\.key) == ["é"])
    shop.phones = ["x": "1", "y": "2"]
    #expect(shop.phones.keys == ["x", "y"])
    shop.staff["boss"] = Clerk(name: "Ann")
    #expect(shop.staff["boss"]?.name == "Ann")
    if managed { #expect(shop.staff["boss"]?.shops.first == shop) }
    shop.phones.removeAll()
    #expect(shop.phones.isEmpty)
    store.cancelWrite()
  }

  @Test func collectionsAreAddedWithTheirObjectAndFollowDeletes() throws {
    let store = try makeShopStore()
    let (ann, ben) = (Clerk(name: "Ann"), Clerk(name: "Ben"))
    let shop = Shop()
    shop.tags = ["b", "a"]
    shop.staff = ["a": ann, "b": ben]
    let friend = Shop()
    shop.friends = [friend]
    try store.write { try store.add(shop) }
    #expect(shop.tags.toArray() == ["a", "b"] && shop.staff.values == [ann, ben] && shop.friends.first == friend)
    try store.write {
      try store.delete(ann)
      try store.delete(friend)
    }
    #expect(shop.staff.keys == ["b"] && shop.friends.isEmpty)
    try store.write { try store.delete(shop) }
    #expect(shop.tags.isEmpty && shop.staff["b"] == nil && !ben.isInvalidated && ben.shops.isEmpty)
  }

  @Test func theRecordSaysWhichMembersAndKeysChanged() throws {
    let store = try makeShopStore()
    let shop = Shop()
    shop.tags = ["a", "b"]
    shop.phones = ["x": "1"]
    try store.write { try store.add(shop) }
    let before = store.version
    try store.write {
      shop.tags.insert("c")
      shop.tags.remove("a")
      shop.tags.insert("d")
      shop.tags.remove("d")
      shop.phones["x"] = "2"
      shop.phones["y"] = "3"
    }
    var changes: [MemberChange] = []
    try store.readRecords(after: before) { record in
      changes += record.tables.flatMap(\.collections).flatMap(\.members)
    }
    #expect(
      Set(changes) == [
        MemberChange(.string("a"), .removed), MemberChange(.string("c"), .inserted),
        MemberChange(.string("x"), .modified), MemberChange(.string("y"), .inserted),
      ])
  }

  @Test func decimalsAndObjectIdsComeBackBitExact() throws {
    let store = try makeShopStore()
    for text in ["1.50", "-0", "0E-6176", "9.999999999999999999999999999999999E+6144", "NaN", "-Infinity", "1E-6176"] {
      let decimal = try #require(Decimal128(text))
      let shop = Shop(price: decimal, discount: decimal)
      let id = shop.id
      try store.write { try store.add(shop) }
      #expect(shop["price"] == .decimal(decimal) && shop["discount"] == .decimal(decimal) && shop.id == id)
      #expect(shop.price.description == decimal.description)
      #expect(store.object(Shop.self, forPrimaryKey: id) == shop)
    }
  }

  @Test func aMixedPropertyHoldsAnything() throws {
    let store = try makeShopStore()
    let shop = Shop()
    #expect(shop.extra.isNull)
    shop.extra = 3
    try store.write { try store.add(shop) }
    #expect(shop.extra.int == 3)
    let clerk = Clerk(name: "Ann")
    try store.write {
      shop.extra = ["tags": ["a", nil, 2.5], "size": 4]
      shop.extra["size"] = 5
      shop.extras = [1, "x", nil, true]
      try store.add(clerk)
      shop.anything["clerk"] = try AnyValue(clerk)
      shop.anything["when"] = AnyValue(Date(timeIntervalSinceReferenceDate: 1))
    }
    #expect(shop.extra["tags"]?[2]?.double == 2.5 && shop.extra["size"]?.int == 5 && shop.extra["tags"]?[1]?.isNull == true)
    #expect(shop.extras.map(\.value) == [.int(1), .string("x"), .null, .bool(true)])
    #expect(shop.anything["clerk"]?.object(Clerk.self, in: store) == clerk)
    #expect(shop.anything["clerk"]?.object(Shop.self, in: store) == nil)
    #expect(shop.anything["when"]?.date?.timeIntervalSinceReferenceDate == 1)
    try store.write { try store.delete(clerk) }
    #expect(shop.anything["clerk"]?.isNull == true)
    #expect(throws: StoreError.self) { try AnyValue(Clerk()) }
  }

  @Test func anEmbeddedObjectBelongsToOneOwnerAndGoesWithIt() throws {
    let store = try makeShopStore()
    let shop = Shop(place: Place(city: "A", room: Room(number: 1)))
    shop.branches = [Place(city: "B"), Place(city: "C")]
    shop.offices = ["x": Place(city: "D")]
    try store.write { try store.add(shop) }
    #expect(shop.place?.room?.number == 1 && shop.branches.map(\.city) == ["B", "C"] && shop.offices["x"]?.city == "D")
    #expect(shop.branches[0].shop == shop && store.objects(Place.self).count == 4)
    let (first, second) = (try #require(shop.place), shop.branches[0])
    try store.write {
      shop.place = Place(city: "E")
      shop.branches.remove(at: 0)
      shop.offices["x"] = nil
    }
    #expect(first.isInvalidated && second.isInvalidated && store.objects(Place.self).map(\.city) == ["C", "E"])
    #expect(store.objects(Room.self).isEmpty)
    try store.write { try store.delete(shop) }
    #expect(store.objects(Place.self).isEmpty)
  }

  @Test func anEmbeddedObjectGetsNoSecondOwner() throws {
    let store = try makeShopStore()
    let shop = Shop(place: Place(city: "A"))
    let other = Shop()
    try store.write {
      try store.add([shop, other])
      do throws(StoreError) {
        try store.add(Place())
        Issue.record("added alone")
      } catch {
        #expect(error.code == .embeddedAlone)
      }
      do throws(StoreError) {
        try other.set(\.place, to: shop.place)
        Issue.record("owned twice")
      } catch {
        #expect(error.code == .alreadyOwned)
      }
      shop.place = shop.place
    }
    #expect(other.place == nil && shop.place?.city == "A")
    try store.write {
      let place = try #require(shop.place)
      shop.place = nil
      other.branches.append(place)
    }
    #expect(shop.place == nil && other.branches.map(\.city) == ["A"])
  }

  @Test func everyCollectionGoesThroughDictionariesAndJSON() throws {
    let store = try makeShopStore()
    let made = try store.write {
      try store.create(
        Shop.self,
        value: [
          "price": "1.50", "tags": ["a", "b", "a"], "phones": ["x": "1"], "staff": ["boss": ["name": "Ann"]],
          "place": ["city": "A", "room": ["number": 7]], "branches": [["city": "B"]], "offices": ["o": ["city": "C"]],
          "extra": ["k": [1, 2.5, nil] as [Any?]], "extras": [1, "x"] as [Any?],
        ]).reference
    }
    let shop = try #require(store.resolve(made))
    #expect(shop.price.description == "1.50" && shop.tags.count == 2 && shop.staff["boss"]?.name == "Ann")
    #expect(shop.place?.room?.number == 7 && shop.offices["o"]?.city == "C" && shop.extra["k"]?[1]?.double == 2.5)
    let json = try JSONEncoder().encode(shop)
    let read = try JSONDecoder().decode(Shop.self, from: json)
    #expect(read.id == shop.id && read.phones["x"] == "1" && read.place?.room?.number == 7 && Set(read.tags) == ["a", "b"])
    #expect(read.extra == shop.extra && read.offices["o"]?.city == "C")
    let snapshot = shop.snapshot()
    #expect(snapshot.tags == ["a", "b"] && snapshot.phones == ["x": "1"] && snapshot.staff["boss"] == shop.staff["boss"]?.reference)
    let frozen = try shop.freeze()
    #expect(frozen.place?.room?.number == 7 && frozen.staff["boss"]?.name == "Ann" && frozen.branches.map(\.city) == ["B"])
    let other = try makeShopStore()
    let copy = try other.write { try other.create(Shop.self, json: json)[0].reference }
    #expect(other.resolve(copy)?.staff["boss"]?.name == "Ann" && other.objects(Place.self).count == 3)
    #expect(try shop.value(forKeyPath: "staff.boss.name") as? String == "Ann")
    #expect(try shop.value(forKeyPath: "phones.@count") as? Int == 1)
  }

  @Test func aLinkInAMixedValueIsWrittenAndReadLikeAnyOther() throws {
    let store = try makeShopStore()
    let (ann, ben, shop) = (Clerk(name: "Ann"), Clerk(name: "Ben"), Shop())
    try store.write {
      try store.add(shop)
      try store.add([ann, ben])
      shop.extra = try AnyValue(ann)
      // The last two are the program's own.
      shop.extras = [try AnyValue(shop), ["k": try AnyValue(ben)], ["$ref": "#/a-b"], ["$ref": "Nobody-1"]]
      shop.anything["a"] = try AnyValue(ann)
    }
    let json = try JSONEncoder().encode(shop)
    let text = String(decoding: json, as: UTF8.self)
    #expect(text.contains(##""extra":{"$ref":"Clerk-1"}"##) && text.contains(##""anything":{"a":{"$ref":"Clerk-1"}}"##))
    #expect(text.contains(##"[{"$ref":"\##(shop.objectIdentifier)"},{"k":{"$ref":"Clerk-2"}},"##), "\(text)")
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(Shop.self, from: json) }
    let id = ObjectId()
    let renamed = text.replacing("\"id\":\"\(shop.id)\"", with: "\"id\":\"\(id)\"")
    try store.write { _ = try store.create(Shop.self, json: Data(renamed.utf8)) }
    let copy = try #require(store.object(Shop.self, forPrimaryKey: id))
    #expect(copy.extra == shop.extra && copy.extras.toArray() == shop.extras.toArray() && copy.anything["a"] == shop.anything["a"])
    #expect(copy.extra.object(Clerk.self, in: store) == ann && copy.extras[0].object(Shop.self, in: store) == shop)
    try store.write { try store.delete(ann) }
    #expect(String(decoding: try JSONEncoder().encode(copy), as: UTF8.self).contains(#""extra":null"#))
  }

  /// A map that has the form of a reference to an object that there is.
  @Test func aMapOfTheProgramsOwnIsNeverTakenForAReference() throws {
    let store = try makeShopStore()
    let (ann, shop) = (Clerk(name: "Ann"), Shop())
    let own: [AnyValue] = [
      ["$ref": "Clerk-1"], ["$map": ["$ref": "Clerk-1"]], ["$map": ["$map": ["a": 1]]], ["$map": 3], [["k": ["$ref": "Clerk-1"]]],
      ["$ref": "Clerk-1", "more": 1],
    ]
    try store.write {
      try store.add(ann)
      try store.add(shop)
      shop.extra = own[0]
      shop.extras.append(contentsOf: own)
      shop.anything["$ref"] = "Clerk-1"
      shop.anything["a"] = own[1]
    }
    let json = try JSONEncoder().encode(shop)
    #expect(String(decoding: json, as: UTF8.self).contains(#""extra":{"$map":{"$ref":"Clerk-1"}}"#))
    let alone = try JSONDecoder().decode(Shop.self, from: json)
    #expect(alone.extra == own[0] && alone.extras.toArray() == own)
    let id = ObjectId()
    let renamed = String(decoding: json, as: UTF8.self).replacing("\"id\":\"\(shop.id)\"", with: "\"id\":\"\(id)\"")
    try store.write { _ = try store.create(Shop.self, json: Data(renamed.utf8)) }
    let copy = try #require(store.object(Shop.self, forPrimaryKey: id))
    #expect(copy.extra == own[0] && copy.extras.toArray() == own && copy.anything["a"] == own[1])
    #expect(copy.anything["$ref"] == "Clerk-1")
    // So it is in dictionaries.
    let other = ObjectId()
    try store.write { _ = try store.create(Shop.self, value: ["id": other, "extra": ["$map": ["$ref": "Clerk-1"]]]) }
    #expect(store.object(Shop.self, forPrimaryKey: other)?.extra == own[0])
  }

  @Test func aMixedValueMayReferToWhatItsDocumentMakes() throws {
    let store = try makeShopStore()
    let (id, friend) = (ObjectId(), ObjectId())
    let text = #"{"id":"\#(id)","extras":[{"$ref":"Shop-\#(friend)"},{"$ref":"Shop-\#(id)"}],"friends":[{"id":"\#(friend)"}]}"#
    try store.write {
      _ = try store.create(Shop.self, json: Data(text.utf8))
      // What is nowhere is refused as a whole.
      let lost = #"{"extra":{"a":{"$ref":"Clerk-99"}},"staff":{"boss":{"name":"Ann"}}}"#
      #expect { try store.create(Shop.self, json: Data(lost.utf8)) } throws: { StoreError.Code.typeMismatch ~= $0 }
      #expect { try store.create(Shop.self, value: ["extra": ["$ref": "Clerk-99"]]) } throws: { StoreError.Code.typeMismatch ~= $0 }
    }
    #expect(store.objects(Shop.self).count == 2 && store.objects(Clerk.self).isEmpty)
    let shop = try #require(store.object(Shop.self, forPrimaryKey: id))
    #expect(shop.extras.map { $0.object(Shop.self, in: store)?.id } == [friend, id])
    let loose = Shop()
    loose.extra = try AnyValue(shop)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(loose) }
  }
}

extension Store {
  fileprivate func readRecords(after version: Version, _ body: (CommitRecord) -> Void) throws {
    let read = try #require(try? configuration.backend.open(configuration.options)).beginRead()
    defer { read.end() }
    try read.history(after: version) { record in
      body(record)
      return .proceed
    }
  }
}
