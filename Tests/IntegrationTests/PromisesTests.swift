import Foundation
import StorageInterface
import StoreInspection
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class TextKeyed { @PrimaryKey var id: String }
@Model final class NumberKeyed { @PrimaryKey var id: Int }
@Model final class SmallKeyed { @PrimaryKey var id: Int8 }
@Model final class UUIDKeyed { @PrimaryKey var id: UUID }
@Model final class ObjectIdKeyed { @PrimaryKey var id: ObjectId }

@Model final class Label {
  var name = ""
  @Relationship(deleteRule: .cascade) var records: LiveList<Record>
}

@Model final class Record {
  var title = ""
  @Relationship(deleteRule: .cascade) var tracks: LiveList<Track>
  @Inverse(\Label.records) var label: Label?
}

@Model final class Track {
  var title = ""
  var extra: AnyValue
  @Inverse(\Record.tracks) var record: Record?
}

/// Promises of the object model that no other test is named after.
@Suite struct PromisesTests {
  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test(arguments: Engine.allCases) func everyKindOfPrimaryKeyIsUniqueFoundAndFixed(engine: Engine) throws {
    let (configuration, directory) = engine.place([
      TextKeyed.self, NumberKeyed.self, SmallKeyed.self, UUIDKeyed.self, ObjectIdKeyed.self,
    ])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    func check<T: Model, K: Scalar>(_ path: ReferenceWritableKeyPath<T, K>, _ keys: [K], _ make: (K) -> T) throws {
      try store.write { for key in keys { try store.add(make(key)) } }
      for key in keys {
        let found = try #require(store.object(T.self, forPrimaryKey: key))
        #expect(found[keyPath: path] == key)
        // A second one is refused, and the same transaction goes on and commits.
        try store.write {
          #expect(code { try store.add(make(key)) } == .primaryKeyExists)
          if key != keys[0] { #expect(code { try found.set(path, to: keys[0]) } == .primaryKeyIsFixed) }
        }
        #expect(found[keyPath: path] == key)
      }
      #expect(store.objects(T.self).count == keys.count)
    }
    try check(\TextKeyed.id, ["", "a", "a\0", "é", "e\u{301}"]) { TextKeyed(id: $0) }
    try check(\NumberKeyed.id, [.min, -1, 0, 1, .max]) { NumberKeyed(id: $0) }
    try check(\SmallKeyed.id, [.min, 0, .max]) { SmallKeyed(id: $0) }
    try check(\UUIDKeyed.id, (0..<4).map { _ in UUID() }) { UUIDKeyed(id: $0) }
    try check(\ObjectIdKeyed.id, [.zero, ObjectId(), ObjectId()]) { ObjectIdKeyed(id: $0) }
  }

  @Test(arguments: Engine.allCases) func anObjectWithoutAPrimaryKeyKeepsItsIdentityAndNoKeyComesTwice(engine: Engine) throws {
    let (configuration, directory) = engine.place([Label.self, Record.self, Track.self])
    defer { withExtendedLifetime(directory) {} }
    var identity: ObjectID?
    var used: Set<ObjectID> = []
    var first: Store? = try Store(configuration)
    if let store = first {
      let tracks = (0..<5).map { Track(title: "\($0)") }
      try store.write { try store.add(tracks) }
      identity = tracks[2].id
      used = Set(tracks.map(\.id))
      try store.write { try store.delete(tracks[4]) }
      let kept = tracks[2]
      try store.write { kept.title = "changed" }
      #expect(kept.id == identity && store.resolve(kept.reference) == kept)
    }
    if engine == .lmdb || engine == .sqlite { first = nil }
    let store = try first ?? Store(configuration)
    let again = try #require(store.objects(Track.self).where { $0.title == "changed" }.first)
    let new = Track(title: "new")
    try store.write { try store.add(new) }
    #expect(again.id == identity && !used.contains(new.id))
  }

  @Test(arguments: Engine.allCases) func aToOneInverseIsReadAskedAndObserved(engine: Engine) throws {
    let (configuration, directory) = engine.place([Label.self, Record.self, Track.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let records = ["b", "a"].map { name in
      let record = Record(title: name)
      record.tracks = [Track(title: "1 of \(name)")]
      return record
    }
    try store.write { try store.add(records) }
    let track = records[0].tracks[0]
    #expect(track.record == records[0])
    let tracks = store.objects(Track.self)
    #expect(tracks.where { $0.record.title == "a" }.map(\.title) == ["1 of a"])
    var told = 0
    let token = try tracks.observe(observingProperties: ["record.title"]) { change in
      if case .update(_, _, _, let modifications) = change { told += modifications.count }
    }
    store.refresh()
    try store.write { records[0].title = "z" }
    store.refresh()
    #expect(told == 1)
    try store.write {
      records[0].tracks.removeAll()
      records[1].tracks.append(track)
    }
    store.refresh()
    token.stop()
    // The new record's other track has the record it had.
    #expect(track.record == records[1] && told == 2, "\(told)")
  }

  @Test(arguments: Engine.allCases) func aCascadeIsToldInOneCallWithExactCounts(engine: Engine) throws {
    let (configuration, directory) = engine.place([Label.self, Record.self, Track.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let labels = (0..<2).map { Label(name: "\($0)") }
    for label in labels {
      label.records = LiveList((0..<3).map { _ in Record() })
      for record in label.records { record.tracks = LiveList((0..<4).map { Track(title: "\($0)") }) }
    }
    try store.write { try store.add(labels) }
    var told: [String] = []
    func hear<T>(_ name: String, _ results: Results<T>) -> NotificationToken {
      results.observe { change in
        if case .update(_, let deletions, let insertions, let modifications) = change {
          told.append("\(name) \(deletions.count) \(insertions.count) \(modifications.count)")
        }
      }
    }
    let tokens = [
      hear("labels", store.objects(Label.self)), hear("records", store.objects(Record.self)), hear("tracks", store.objects(Track.self)),
    ]
    store.refresh()
    try store.write { try store.delete(labels[0]) }
    store.refresh()
    #expect(told == ["labels 1 0 0", "records 3 0 0", "tracks 12 0 0"])
    for token in tokens { token.stop() }
    let engine = try configuration.backend.open(OpenOptions())
    let read = try engine.beginRead()
    defer { read.end() }
    var records: [CommitRecord] = []
    try read.history(after: Version(store.version.rawValue - 1)) { record in
      records.append(record)
      return .proceed
    }
    #expect(records.count == 1 && records.first?.tables.map(\.deleted.count).sorted() == [1, 3, 12])
  }

  @Test(arguments: Engine.allCases) func mixedValuesAreAskedByTypeAndPath(engine: Engine) throws {
    let (configuration, directory) = engine.place([Label.self, Record.self, Track.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let values: [AnyValue] = [nil, 3, 3.5, "x", ["bpm": 120, "tags": ["a", "b"]], ["bpm": 90.5], [1, 2]]
    try store.write { for (number, value) in values.enumerated() { try store.add(Track(title: "\(number)", extra: value)) } }
    func titles(_ text: String) -> [String] {
      let found = store.objects(Track.self).filter("\(text)")
      #expect(found.error == nil, "\(text)")
      return found.map(\.title)
    }
    #expect(titles("extra == nil") == ["0"] && titles("extra == 3") == ["1"] && titles("extra > 3") == ["2"])
    #expect(titles("extra BEGINSWITH 'x'") == ["3"] && titles("extra.bpm > 100") == ["4"] && titles("extra.bpm > 0") == ["4", "5"])
    #expect(titles("ANY extra.tags[*] == 'b'") == ["4"] && titles("extra[0] == 1") == ["6"])
  }

  @Test(arguments: [(Engine.lmdb, Engine.sqlite), (.sqlite, .lmdb), (.memory, .lmdb)])
  func everyKindOfPropertyIsCopiedAndExportedWithTheSameDigest(from: Engine, to: Engine) throws {
    let folder = TemporaryDirectory("promises")
    let models: [any SchemaDescribing.Type] = [
      Bag.self, Part.self, Basket.self, Leaf.self, Stalk.self, Extremes.self, ExtremePart.self,
    ]
    let configuration = from.configuration(folder.file("source"), models)
    let store = try Store(configuration)
    var random = SeededGenerator.forTest("\(from) \(to)")
    let bag = Bag(id: 1)
    bag.doublesSet = [.nan, -0.0]
    bag.stringsMap = ["é": "1", "e\u{301}": "2", "": "\0"]
    bag.part = Part(bool: true, decimal: Decimal128("1.50"))
    bag.partsByName = ["p": Part(mixed: ["a": [1, nil]])]
    bag.mixeds.append(contentsOf: ScalarSamples.extremes(.mixed).map { AnyValue($0) })
    let (leaf, other) = (Leaf(name: "a", next: Leaf(name: "b")), Leaf(name: "c"))
    leaf.byName = ["c": other]
    leaf.friends = [other]
    other.next = leaf
    other.stalk = Stalk(length: 4)
    let basket = Basket()
    basket.leaves = [leaf, other, leaf]
    try store.write {
      try store.add(bag)
      try store.add([leaf, other])
      try store.add(basket)
      leaf.extra = try AnyValue(other)
      for _ in 0..<5 {
        let values = TypesTests.values.mapValues { $0[random.below($0.count)] as Any? }
        try store.create(Extremes.self, value: values)
      }
    }
    func digest(_ engine: any StorageEngine) throws -> String {
      let output = StringOutput()
      try Inspector(engine, location: "test", format: .table, output: output).digest()
      return output.text
    }
    func verified(_ engine: any StorageEngine) throws -> Bool {
      let output = StringOutput()
      try Inspector(engine, location: "test", format: .table, output: output).verify()
      return output.text.contains("no faults")
    }
    let source = try configuration.backend.open(OpenOptions())
    let copied = try to.configuration(folder.file("copied"), models).backend.open(OpenOptions())
    try StoreCopy.copy(source, to: copied)
    let output = StringOutput()
    try Inspector(source, location: "test", format: .json, output: output).export()
    let imported = try to.configuration(folder.file("imported"), models).backend.open(OpenOptions())
    try GraphImport.run(Data(output.text.utf8), into: imported)
    for engine in [copied, imported] {
      #expect(try digest(engine) == digest(source))
      #expect(try verified(engine))
    }
    if to != .memory {
      let copy = try Store(to.configuration(folder.file("copied"), models))
      let (one, two) = (try #require(copy.object(Leaf.self, forPrimaryKey: "a")), try #require(copy.object(Leaf.self, forPrimaryKey: "c")))
      #expect(one.extra.object(Leaf.self, in: copy) == two && one.byName["c"] == two && two.stalk?.length == 4)
      #expect(copy.objects(Basket.self).first?.leafCount == 3)
      try copy.write { copy.objects(Basket.self).first?.leaves.append(two) }
      #expect(copy.objects(Basket.self).first?.leafCount == 4)
    }
  }
}

@Model final class Basket {
  var leaves: LiveList<Leaf>
  @Derived(\Basket.leaves.count) var leafCount = 0
}
