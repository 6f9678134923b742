import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A struct in two versions of a program, and one that does not let itself be stored.
private struct SmallPart: Codable, Hashable { var size = 1; var label: String? }

private struct BigLabel: PersistableStruct {
  var text = ""
  var note: String?
  var part = SmallPart()
  var parts: [SmallPart] = []
  var counts: [String: Int] = [:]
}

private struct ShyPart: PersistableStruct {
  struct Refusal: Error {}
  var isShy = false
  var number = 0

  enum CodingKeys: String, CodingKey { case number }
  init() {}
  init(isShy: Bool, number: Int) { (self.isShy, self.number) = (isShy, number) }
  func encode(to encoder: any Encoder) throws {
    if isShy { throw Refusal() }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
  }
}

@Model private final class LabelledCrate {
  var label = BigLabel()
  var spare: BigLabel?
  var shy = ShyPart()
  var maybe: ShyPart?
  var shies: LiveList<ShyPart>
  var named: LiveMap<ShyPart>
}

@Model private final class LabelledBox {
  @PrimaryKey var id = 0
  var labels: LiveList<BigLabel>
  var byKey: LiveMap<BigLabel>
}

@Suite struct PersistableStructTests {
  private func store() throws -> Store { try Store(.reference(nil, models: [LabelledCrate.self, LabelledBox.self])) }

  private func map(_ fields: [String: Value]) -> Value { .map(ValueMap(fields.map { ValueMap.Entry($0.key, $0.value) })) }

  @Test func fieldsThatAStructDoesNotKnowStay() throws {
    let store = try store()
    let crate = LabelledCrate()
    let newer = map([
      "text": .string("T"), "note": .string("N"), "color": .string("red"), "counts": map(["a": .int(1), "b": .int(2)]),
      "part": map(["size": .int(3), "label": .string("L"), "weight": .double(1.5)]),
      "parts": .list([map(["size": .int(1), "weight": .double(2)])]),
    ])
    try store.write {
      try store.add(crate)
      crate["label"] = newer
      crate["spare"] = newer
    }
    try store.write {
      crate.label.text = "T2"
      crate.label.note = nil
      crate.label.part.label = nil
      crate.label.part.size = 4
      crate.label.counts["a"] = nil
      crate.spare?.text = "S2"
    }
    #expect(crate.label.text == "T2" && crate.label.note == nil && crate.label.part == SmallPart(size: 4, label: nil))
    guard case .map(let fields) = crate["label"], case .map(let part) = fields["part"] ?? .null else {
      Issue.record("no map")
      return
    }
    #expect(fields["color"] == .string("red") && part["weight"] == .double(1.5) && part["label"] == nil)
    #expect(fields["note"] == nil && fields["counts"] == map(["b": .int(2)]))
    guard case .map(let spare) = crate["spare"] else {
      Issue.record("no map")
      return
    }
    #expect(spare["color"] == .string("red") && spare["text"] == .string("S2"))
  }

  private func color(_ value: Value) -> Value? { if case .map(let fields) = value { fields["color"] } else { nil } }

  private func newer(_ color: String) -> Value { map(["text": .string(color), "color": .string(color)]) }

  @Test func soDoThoseOfElements() throws {
    let store = try store()
    let crate = LabelledBox(id: 1)
    try store.write {
      try store.add(crate)
      try crate.setValue([newer("red"), newer("blue"), newer("green")], forKey: "labels")
      try crate.setValue(["a": newer("red"), "b": newer("blue")], forKey: "byKey")
    }
    let stored = try #require(try store.dynamicObjects("LabelledBox").first)
    func colors() -> [Value?] { (stored.elements("labels") ?? []).map { color($0) } }
    func colorsByKey() -> [Value?] { (stored.entries("byKey") ?? []).map { color($0.value) } }
    let (red, blue, green) = (Value.string("red"), Value.string("blue"), Value.string("green"))
    try store.write {
      crate.labels[0].text = "T"
      crate.labels[1] = BigLabel(text: "U")
      crate.byKey["a"]?.text = "T"
      crate.byKey["c"] = BigLabel(text: "new")
    }
    #expect(crate.labels.map(\.text) == ["T", "U", "green"] && crate.byKey.map(\.value.text) == ["T", "blue", "new"])
    #expect(colors() == [red, blue, green] && colorsByKey() == [red, blue, nil])
    // Who moves whole elements takes along what belongs to them.
    try store.write {
      crate.labels = [BigLabel(text: "green"), BigLabel(text: "first"), BigLabel(text: "T"), BigLabel(text: "U")]
      crate.byKey = ["b": BigLabel(text: "B")]
    }
    #expect(colors() == [green, nil, red, blue] && colorsByKey() == [blue])
    let update = LabelledBox(id: 1)
    update.labels = [BigLabel(text: "G"), BigLabel(text: "first"), BigLabel(text: "R"), BigLabel(text: "U")]
    update.byKey = ["b": BigLabel(text: "C")]
    try store.write { try store.add(update, update: .modified) }
    #expect(crate.labels[0].text == "G" && colors() == [green, nil, red, blue] && colorsByKey() == [blue])
  }

  @Test func elementsThatCannotBeReadAreNotWrittenOver() throws {
    let store = try store()
    let crate = LabelledBox(id: 1)
    let foreign = map(["text": .int(5), "color": .string("red")])
    try store.write {
      try store.add(crate)
      try crate.setValue([foreign], forKey: "labels")
      try crate.setValue(["a": foreign], forKey: "byKey")
    }
    let edits: [() -> Void] = [
      { crate.labels[0].text = "new" }, { crate.labels[0] = BigLabel() }, { crate.labels = [BigLabel()] },
      { crate.byKey["a"] = BigLabel() }, { crate.byKey = ["a": BigLabel()] },
    ]
    for edit in edits {
      let error = #expect(throws: StoreError.self) { try store.write { edit() } }
      #expect(error?.code == .typeMismatch)
    }
    let stored = try #require(try store.dynamicObjects("LabelledBox").first)
    #expect(stored.elements("labels") == [foreign] && stored.entries("byKey")?.map(\.value) == [foreign])
    // What is taken away need not be read.
    try store.write {
      crate.labels.remove(at: 0)
      crate.byKey["a"] = nil
    }
    #expect(crate.labels.isEmpty && crate.byKey.isEmpty)
  }

  @Test func whatCannotBeReadIsNotWrittenOver() throws {
    let store = try store()
    let crate = LabelledCrate()
    let foreign = map(["text": .int(5), "color": .string("red")])
    try store.write {
      try store.add(crate)
      crate["label"] = foreign
      crate["spare"] = foreign
    }
    #expect(crate.label == BigLabel() && crate.spare == nil)
    for edit in [{ crate.label.text = "new" }, { crate.label = BigLabel(text: "whole") }, { crate.spare = BigLabel() }] {
      let error = #expect(throws: StoreError.self) { try store.write { edit() } }
      #expect(error?.code == .typeMismatch && error?.details["property"] != nil)
    }
    #expect(crate["label"] == foreign && crate["spare"] == foreign)
    // Who means it says so.
    try store.write {
      try crate.setValue(BigLabel(text: "said"), forKey: "label")
      crate.spare = nil
      crate.spare = BigLabel(text: "again")
    }
    #expect(crate.label.text == "said" && crate.spare?.text == "again")
  }

  @Test func whatCannotBeReadIsLogged() throws {
    let store = try store()
    let (crate, box) = (LabelledCrate(), LabelledBox(id: 1))
    let foreign = map(["text": .int(5)])
    try store.write {
      try store.add(crate)
      try store.add(box)
    }
    #expect(said { crate.label } == [] && said { crate.spare } == [], "what was never set is read as a default, and right")
    try store.write {
      crate["label"] = foreign
      crate["spare"] = foreign
      try box.setValue([foreign], forKey: "labels")
    }
    let ending = "cannot be read as 'BigLabel', and is not written over."
    #expect(said { crate.label }.map { $0.contains("'LabelledCrate.label' of #1 \(ending)") } == [true])
    #expect(said { crate.spare }.map { $0.contains("'LabelledCrate.spare' of #1 \(ending)") } == [true])
    #expect(Set(said { box.labels.map(\.text) }.map { $0.contains("a collection \(ending)") }) == [true])
  }

  /// What is logged while something is read.
  private func said<R>(_ read: () -> R) -> [String] {
    let lines = Mutex<[String]>([])
    _ = StoreLog.$listener.withValue({ line in lines.withLock { $0.append(line) } }) { read() }
    return lines.withLock { $0 }
  }

  @Test func whatDoesNotLetItselfBeEncodedEndsTheWrite() throws {
    let store = try store()
    let crate = LabelledCrate(shy: ShyPart(isShy: false, number: 1))
    try store.write { try store.add(crate) }
    let shy = ShyPart(isShy: true, number: 2)
    let edits: [() -> Void] = [
      { crate.shy = shy }, { crate.maybe = shy }, { crate.shies.append(shy) }, { crate.named["k"] = shy },
      { crate.shies = [ShyPart(isShy: false, number: 3), shy] },
    ]
    for (number, edit) in edits.enumerated() {
      let error = #expect(throws: StoreError.self, "edit \(number)") { try store.write { edit() } }
      #expect(error?.code == .typeMismatch && error?.underlying is ShyPart.Refusal, "edit \(number): \(error.map { "\($0)" } ?? "")")
    }
    for unmanaged in [LabelledCrate(shy: shy), LabelledCrate(maybe: shy)] {
      let error = #expect(throws: StoreError.self) { try store.write { try store.add(unmanaged) } }
      #expect(error?.code == .typeMismatch)
    }
    let listed = LabelledCrate()
    listed.shies = [shy]
    #expect(throws: StoreError.self) { try store.write { try store.add(listed) } }
    #expect(store.objects(LabelledCrate.self).count == 1 && crate.shy.number == 1 && crate.shies.isEmpty && crate.named.isEmpty)
  }
}
