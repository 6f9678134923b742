import Testing
import Vivarium
import VivariumTestSupport

@Model final class Ship {
  @PrimaryKey var name = ""
  var motor: Motor?
  var decks: LiveList<Motor>
  var spare: LiveMap<Motor>
  var ports: LiveList<String>
}
@Model(.embedded) final class Motor {
  var power = 0
  var pump: Pump?
}
@Model(.embedded) final class Pump { var size = 0 }

/// `update: .modified` writes what differs, however deep it lies.
@Suite struct ModifiedPolicyTests {
  let store: Store

  init() throws {
    var configuration = StoreConfiguration.reference(nil, models: [Ship.self, Motor.self, Pump.self])
    configuration.manualDelivery = true
    store = try Store(configuration, isolation: nil)
    try store.write { try store.add(ship()) }
  }

  private func ship(_ change: (Ship) -> Void = { _ in }) -> Ship {
    let ship = Ship(name: "Ada", motor: Motor(power: 9, pump: Pump(size: 1)))
    ship.decks = [Motor(power: 1), Motor(power: 2), Motor(power: 3)]
    ship.spare = ["left": Motor(power: 4), "right": Motor(power: 5)]
    ship.ports = ["Oslo", "Bergen", "Ghent"]
    change(ship)
    return ship
  }

  private var stored: Ship { store.objects(Ship.self)[0] }

  /// What ships and motors heard of adding a ship again.
  private func heard(_ change: (Ship) -> Void = { _ in }) throws -> (ships: [Heard.Call], motors: [Heard.Call], pumps: [Heard.Call]) {
    let (ships, motors, pumps) = (Heard(), Heard(), Heard())
    let tokens = [
      store.objects(Ship.self).observe { ships.hear($0) }, store.objects(Motor.self).observe { motors.hear($0) },
      store.objects(Pump.self).observe { pumps.hear($0) },
    ]
    store.refresh()
    _ = (ships.take(), motors.take(), pumps.take())
    try store.write { try store.add(ship(change), update: .modified) }
    store.refresh()
    tokens.forEach { $0.stop() }
    return (ships.take(), motors.take(), pumps.take())
  }

  @Test func anEqualObjectChangesNothing() throws {
    let (motor, deck, spare) = (stored.motor, stored.decks[1], stored.spare["left"])
    let heard = try heard()
    #expect(heard.ships.isEmpty && heard.motors.isEmpty && heard.pumps.isEmpty)
    #expect(stored.motor == motor && stored.decks[1] == deck && stored.spare["left"] == spare)
    #expect(store.objects(Motor.self).count == 6 && store.objects(Pump.self).count == 1)
  }

  @Test func whatDiffersDeepInsideIsWrittenAlone() throws {
    let heard = try heard { $0.motor?.pump?.size = 2 }
    #expect(heard.pumps == [Heard.update([], [], [0])])
    #expect(stored.motor?.pump?.size == 2 && store.objects(Pump.self).count == 1)
  }

  @Test func anElementThatDiffersIsWrittenAlone() throws {
    let decks = stored.decks.toArray()
    let heard = try heard { $0.decks[1].power = 20 }
    #expect(heard.motors == [Heard.update([], [], [2])])
    #expect(stored.decks.map(\.power) == [1, 20, 3] && stored.decks.toArray() == decks)
  }

  @Test func partsComeAndGoWithTheirPlaces() throws {
    let first = stored.decks[0]
    _ = try heard { ship in
      ship.decks.append(Motor(power: 7))
      ship.spare.removeValue(forKey: "left")
      ship.motor = nil
    }
    #expect(stored.decks.map(\.power) == [1, 2, 3, 7] && stored.decks[0] == first)
    #expect(stored.spare.keys == ["right"] && stored.spare["right"]?.power == 5)
    #expect(stored.motor == nil && store.objects(Motor.self).count == 5 && store.objects(Pump.self).count == 0)
    _ = try heard { $0.decks = [Motor(power: 8)] }
    #expect(stored.decks.map(\.power) == [8] && stored.decks[0] == first && store.objects(Motor.self).count == 4)
  }

  @Test func aListOfValuesKeepsWhatIsTheSame() throws {
    let ports = Heard()
    let token = stored.ports.observe { ports.hear($0) }
    store.refresh()
    _ = ports.take()
    try store.write { try store.add(ship { $0.ports = ["Oslo", "Riga", "Ghent"] }, update: .modified) }
    store.refresh()
    token.stop()
    #expect(ports.take() == [Heard.update([1], [1])])
    #expect(stored.ports.toArray() == ["Oslo", "Riga", "Ghent"])
  }
}
