import StorageInterface
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What reading a key of a long map costs.
@Suite struct MapReadTests {
  @Model final class Register {
    var numbers: LiveMap<Int>
    var parts: LiveMap<Part>
    var loose: LiveMap<AnyValue>
  }

  @Model final class Part { var name = "" }

  @Test func aKeyIsReadWithoutTheKeysBeforeIt() throws {
    let reads = MapReads()
    var configuration = StoreConfiguration.reference(nil, models: [Register.self, Part.self])
    configuration.manualDelivery = true
    configuration.backend = ForwardingBackend(configuration.backend) { engine in
      ForwardingEngine(engine, read: { CountingRead(base: $0, reads: reads) })
    }
    let store = try Store(configuration)
    let register = Register()
    try store.write {
      try store.add(register)
      for i in 0..<300 { register.numbers["key \(i)"] = i }
      register.parts["a"] = try store.create(Part.self, value: ["name": "axle"])
      register.loose = ["nothing": AnyValue(), "text": "tea"]
    }
    let before = reads.positions.load(ordering: .relaxed)
    #expect(register.numbers["key 299"] == 299 && register.numbers["key 0"] == 0 && register.numbers["key"] == nil)
    #expect(register.parts["a"]?.name == "axle" && register.parts["b"] == nil)
    #expect(register.loose["text"] == "tea" && register.loose["nothing"] == AnyValue() && register.loose["x"] == nil)
    #expect(reads.positions.load(ordering: .relaxed) == before)
  }
}

private final class MapReads: Sendable {
  let positions = Atomic(0)
}

/// Counts how often a place among keys was asked for: an engine may have to count them.
private final class CountingRead: ForwardingRead {
  let base: any ReadTransaction
  private let reads: MapReads

  init(base: any ReadTransaction, reads: MapReads) { (self.base, self.reads) = (base, reads) }

  func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    reads.positions.add(1, ordering: .relaxed)
    return try base.position(of: value, in: column, owner)
  }
}
