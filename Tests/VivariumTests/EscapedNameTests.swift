import Testing
import Vivarium
import VivariumTestSupport

/// A word of Swift may name a property: escaped in the program, and as it is in the file and in conditions.
@Model private final class Vehicle {
  #Index<Vehicle>([\.`class`, \.`default`])
  @PrimaryKey var `init`: Int
  @Indexed var `class` = "van"
  var `default`: String?
  var `inout` = 0
  var `repeat`: LiveList<Int>
  var `where`: Vehicle?
  @Inverse(\Vehicle.`where`) var `in`: LinkingObjects<Vehicle>
  @Derived(\Vehicle.`repeat`.count) var `let` = 0
}

@Suite struct EscapedNameTests {
  @Test func aWordOfSwiftNamesAProperty() throws {
    let store = try Store(.reference(nil, models: [Vehicle.self]))
    let first = Vehicle(init: 1, class: "car", default: "x", where: nil)
    first.`repeat` = [1, 2]
    let second = Vehicle(init: 2, `inout`: 5, where: first)
    try store.write { try store.add([first, second]) }
    #expect(first.`class` == "car" && second.`class` == "van" && second.`inout` == 5 && first.let == 2)
    #expect(first.in.map(\.`init`) == [2] && second.where == first)
    #expect(store.objects(Vehicle.self).where { $0.`class` == "car" }.map(\.`init`) == [1])
    #expect(store.objects(Vehicle.self).sorted(by: \.`class`).map(\.`init`) == [1, 2])
    #expect(store.object(Vehicle.self, forPrimaryKey: 2)?["class"] == .string("van"))
    let names = ["init", "class", "default", "inout", "repeat", "where", "in", "let"]
    #expect(Vehicle._$schema.properties.map(\.name) == names)
    try store.write { first.`default` = nil }
    #expect(first.`default` == nil)
  }
}
