import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Hub {
  @PrimaryKey var name = ""
  @Indexed var weight = 0.0
  var float: Float = 0
  var big = 0
  var when = Date(timeIntervalSinceReferenceDate: 0)
  var blob: Data?
  var uuid: UUID?
  var next: Hub?
  var spokes: LiveList<Spoke>
  var notes: LiveList<String>
}

@Model final class Spoke {
  var label = ""
  @Inverse(\Hub.spokes) var hubs: LinkingObjects<Hub>
}

/// Whole graphs out of one store and into another.
@Suite struct CopyTests {
  private static let pairs: [(Engine, Engine)] = [
    (.lmdb, .sqlite), (.sqlite, .lmdb), (.lmdb, .lmdb), (.sqlite, .sqlite), (.reference, .sqlite), (.memory, .lmdb),
  ]

  /// Extremes, a cycle, a list with repeats, holes in the keys, and a history of several commits.
  private func fill(_ configuration: Store.Configuration) throws -> Store {
    let store = try Store(configuration)
    let spokes = (0..<6).map { Spoke(label: "S\($0)") }
    try store.write { try store.add(spokes) }
    try store.write { for position in [0, 3, 5] { try store.delete(spokes[position]) } }
    let (a, b) = (Hub(name: "a\0\"é", weight: -0.0, float: .nan, big: .min), Hub(name: "", weight: .infinity, big: .max))
    a.next = b
    b.next = a
    a.spokes = [spokes[2], spokes[1], spokes[2]]
    a.notes = ["x", "", "日本"]
    b.blob = Data([0, 255])
    b.uuid = UUID()
    b.float = 0.1
    b.when = Date(timeIntervalSinceReferenceDate: 0.1)
    try store.write { try store.add([a, b]) }
    try store.write { a.weight = .leastNonzeroMagnitude }
    return store
  }

  private func digest(_ engine: any StorageEngine) throws -> String {
    let output = StringOutput()
    try Inspector(engine, location: "test", format: .table, output: output).digest()
    return output.text
  }

  private func expectSame(_ store: Store, _ configuration: Store.Configuration) throws {
    let copy = try Store(configuration)
    let hub = try #require(copy.object(Hub.self, forPrimaryKey: "a\0\"é"))
    #expect(hub.float.isNaN && hub.big == .min && hub.weight == .leastNonzeroMagnitude && hub.next?.next == hub)
    #expect(hub.spokes.map(\.label) == ["S2", "S1", "S2"] && hub.notes.toArray() == ["x", "", "日本"])
    #expect(copy.objects(Hub.self).map(\._$key) == store.objects(Hub.self).map(\._$key))
    #expect(copy.objects(Spoke.self).map(\._$key) == store.objects(Spoke.self).map(\._$key))
    #expect(copy.objects(Hub.self).where { $0.weight > 1 }.count == 1 && hub.spokes[0].hubs.count == 2)
  }

  @Test(arguments: pairs) func aCopyHasTheSameIdentitiesOrderAndHistory(from: Engine, to: Engine) throws {
    let directory = TemporaryDirectory("copy")
    let models: [any SchemaDescribing.Type] = [Hub.self, Spoke.self]
    let configuration = from.configuration(directory.file("source"), models)
    let store = try fill(configuration)
    let source = try configuration.backend.open(OpenOptions())
    let target = to.configuration(directory.file("target"), models)
    let engine = try target.backend.open(OpenOptions())
    try StoreCopy.copy(source, to: engine)
    #expect(try digest(source) == digest(engine))
    #expect(try engine.latestVersion() == store.version)
    try expectSame(store, target)
    func records(_ engine: any StorageEngine) throws -> [CommitRecord] {
      let read = try engine.beginRead()
      defer { read.end() }
      var records: [CommitRecord] = []
      try read.history(after: Version(store.version.rawValue - 2)) { record in
        records.append(record)
        return .proceed
      }
      return records
    }
    #expect(try records(engine).map(\.tables) == records(source).map(\.tables))
    #expect(throws: InspectionError.self) { try StoreCopy.copy(source, to: engine) }
  }

  @Test(arguments: pairs) func whatIsExportedAndImportedHasTheSameDigest(from: Engine, to: Engine) throws {
    let directory = TemporaryDirectory("export")
    let models: [any SchemaDescribing.Type] = [Hub.self, Spoke.self]
    let configuration = from.configuration(directory.file("source"), models)
    let store = try fill(configuration)
    let source = try configuration.backend.open(OpenOptions())
    let output = StringOutput()
    try Inspector(source, location: "test", format: .json, output: output).export()
    let target = to.configuration(directory.file("target"), models)
    let engine = try target.backend.open(OpenOptions())
    try GraphImport.run(Data(output.text.utf8), into: engine)
    #expect(try digest(source) == digest(engine))
    try expectSame(store, target)
    #expect(throws: InspectionError.self) { try GraphImport.run(Data("{}".utf8), into: engine) }
  }
}
