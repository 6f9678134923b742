import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

struct Temperature: CustomPersistable, Comparable {
  var kelvin: Double
  init(kelvin: Double) { self.kelvin = kelvin }
  init(persistedValue: Double) { kelvin = persistedValue }
  var persistableValue: Double { kelvin }
  static func < (a: Self, b: Self) -> Bool { a.kelvin < b.kelvin }
}

struct EvenNumber: FailableCustomPersistable {
  var number: Int
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0 else { return nil }
    number = persistedValue
  }
  var persistableValue: Int { number }
  static var placeholder: EvenNumber { EvenNumber(number: 0) }
  private init(number: Int) { self.number = number }
}

struct Address: PersistableStruct {
  var street = ""
  var city = ""
  var floors: [Int] = []
  var rent: Double = 0
}

@Model final class Flat {
  @Indexed var warmth = Temperature(kelvin: 273.15)
  var coldest: Temperature?
  var number: EvenNumber?
  var even = EvenNumber.placeholder
  var address = Address()
  var former: Address?
  var readings: LiveList<Temperature>
}

@Suite struct CustomTypeTests {
  private func makeFlatStore() throws -> Store {
    var configuration = StoreConfiguration.reference(nil, models: [Flat.self])
    configuration.manualDelivery = true
    return try Store(configuration)
  }

  @Test func customTypesAreStoredAsTheirScalar() throws {
    let store = try makeFlatStore()
    let flat = Flat(warmth: Temperature(kelvin: 290), number: EvenNumber(persistedValue: 4))
    flat.readings = [Temperature(kelvin: 1)]
    try store.write { try store.add(flat) }
    #expect(flat.warmth.kelvin == 290 && flat.coldest == nil && flat.number?.number == 4 && flat.readings[0].kelvin == 1)
    #expect(flat["warmth"] == .double(290))
    try store.write {
      flat.coldest = Temperature(kelvin: 0)
      flat.warmth.kelvin += 1
      flat.readings.append(flat.warmth)
    }
    #expect(flat.coldest?.kelvin == 0 && flat.readings.map(\.kelvin) == [1, 291])
    #expect(store.objects(Flat.self).where { $0.warmth > Temperature(kelvin: 290.5) }.count == 1)
    #expect(store.objects(Flat.self).where { $0.coldest == Temperature(kelvin: 0) }.count == 1)
    #expect(store.objects(Flat.self).sorted(by: \.warmth).first == flat)
  }

  @Test func aStoredValueThatIsNoneReadsAsNilOrPlaceholder() throws {
    let store = try makeFlatStore()
    let flat = Flat()
    try store.write {
      try store.add(flat)
      flat["number"] = .int(3)
      flat["even"] = .int(5)
    }
    #expect(flat.number == nil && flat.even.number == 0 && flat["even"] == .int(5))
  }

  @Test func aStructIsOneAttribute() throws {
    let store = try makeFlatStore()
    let flat = Flat(address: Address(street: "High \"St\"", city: "日本", floors: [1, 2], rent: .nan))
    try store.write { try store.add(flat) }
    #expect(flat.address.street == "High \"St\"" && flat.address.city == "日本" && flat.address.floors == [1, 2])
    #expect(flat.address.rent.isNaN && flat.former == nil)
    try store.write { flat.address.city = "X"; flat.former = Address(city: "Y", rent: 0.1) }
    #expect(flat.address.city == "X" && flat.address.floors == [1, 2] && flat.former?.rent == 0.1)
    let stored: [ValueMap.Entry] = [
      .init("city", .string("Y")), .init("floors", .list([])), .init("rent", .double(0.1)), .init("street", .string("")),
    ]
    #expect(flat["former"] == .map(ValueMap(stored)))
  }

  @Test func aFieldAddedLaterHasItsDefault() throws {
    let store = try makeFlatStore()
    let flat = Flat()
    try store.write {
      try store.add(flat)
      flat["address"] = .map(ValueMap([.init("city", .string("Old"))]))
      flat["former"] = .string("no JSON")
    }
    #expect(flat.address == Address(city: "Old") && flat.former == nil)
  }

  @Test func conditionsLookIntoAStruct() throws {
    let store = try makeFlatStore()
    try store.write {
      for (number, city) in ["Ghent", "Bruges", "Ghent"].enumerated() {
        try store.add(Flat(address: Address(city: city, floors: [number, 9], rent: Double(number))))
      }
    }
    let flats = store.objects(Flat.self)
    #expect(flats.filter("address.city == %@", "Ghent").count == 2)
    #expect(flats.filter("address.city BEGINSWITH 'B' AND address.rent == 1").count == 1)
    #expect(flats.filter("address.rent > 1").map(\.address.city) == ["Ghent"])
    #expect(flats.filter("ANY address.floors[*] == 2").count == 1)
    #expect(flats.filter("former.city == 'X'").isEmpty && flats.filter("former == nil").count == 3)
    try store.write { flats[0].address.city = "Antwerp" }
    #expect(flats.filter("address.city == 'Ghent'").count == 1)
  }

  @Test func everyFieldOfAStructIsBitExact() throws {
    let store = try Store(.reference(nil, models: [Rack.self]))
    for content in Details.extremes {
      let rack = Rack(details: content, maybe: content)
      rack.list = [content]
      rack.map = ["k": content]
      try store.write { try store.add(rack) }
      let all: [Details?] = [rack.details, rack.maybe, rack.list.first, rack.map["k"]]
      for read in all {
        #expect(read?.persistedValue == content.persistedValue)
        #expect(read?.number.bitPattern == content.number.bitPattern && read?.date == content.date)
        #expect(read?.large == content.large && read?.single.bitPattern == content.single.bitPattern)
        #expect(read?.data == content.data && read?.nested == content.nested && read?.choices == content.choices)
      }
    }
  }

  @Test func aStructGoesThroughJSON() throws {
    let store = try Store(.reference(nil, models: [Flat.self]))
    let flat = Flat(address: Address(street: "S", city: "C", floors: [1], rent: 2), former: Address(city: "F"))
    try store.write { try store.add(flat) }
    let json = try JSONEncoder().encode(flat)
    let made = try store.write { try store.create(Flat.self, json: json) }
    #expect(made.first?.address == flat.address && made.first?.former == flat.former)
  }
}

struct Details: PersistableStruct {
  enum Choice: String, Codable { case one, two }
  struct Inner: Codable, Hashable { var a = [1: "x"], b: [String?] = [nil, ""] }

  var number = 0.0
  var single: Float = 0
  var large: UInt64 = 0
  var small: Int8 = 0
  var text = ""
  var data = Data()
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var id: UUID?
  var decimal: Decimal128 = 0
  var flag: Bool?
  var choices: [Choice] = []
  var nested = Inner()

  static var extremes: [Details] {
    [
      Details(), Details(number: -0.0, single: -0.0, large: .max, small: -128, text: "\0é", data: Data([0, 255])),
      Details(number: .nan, single: .nan, date: .distantPast, id: UUID(), decimal: Decimal128("1.50") ?? 0, flag: false),
      Details(
        number: .leastNonzeroMagnitude, single: .greatestFiniteMagnitude, date: Date(timeIntervalSinceReferenceDate: 0.1),
        choices: [.two, .one], nested: Inner(a: [2: "y", -3: ""], b: [])),
    ]
  }
}

@Model final class Rack {
  var details = Details()
  var maybe: Details?
  var list: LiveList<Details>
  var map: LiveMap<Details>
}
