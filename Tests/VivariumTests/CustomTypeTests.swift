import Foundation
import TestSupport
import Testing
import Values
import Vivarium

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
    configuration.misuse = .ignore
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
    #expect(flat["former"] == .string(#"{"city":"Y","floors":[],"rent":0.1,"street":""}"#))
  }

  @Test func aFieldAddedLaterHasItsDefault() throws {
    let store = try makeFlatStore()
    let flat = Flat()
    try store.write {
      try store.add(flat)
      flat["address"] = .string(#"{"city":"Old"}"#)
      flat["former"] = .string("no JSON")
    }
    #expect(flat.address == Address(city: "Old") && flat.former == nil)
  }
}
