import SyncModel

/// A list of three elements and the 17 things that can be done to it at once: the alphabet of MongoDB's test of its
/// merge (Davis, Hirschhorn, Schvimer: *eXtreme Modelling in Practice*, 2020): 4 inserts, 3 sets, 6 moves, 3 erasures and a clear.
struct ListPrograms {
  private(set) var state = MemoryState()
  private(set) var history: [Stamped] = []
  private let list: [PathStep.Place] = [.list("L")]
  private let letters = ["a", "b", "c"]

  init() {
    let author = ReplicaID(9)
    history = [(Stamp(milliseconds: 1, counter: 0, replica: author), Sight(state: state).operation(object(1), .create))]
    var source = PositionSource()
    var last: ListPosition?
    for index in 0..<3 {
      let stamp = Stamp(milliseconds: 2, counter: UInt16(index), replica: author)
      let position = source.position(after: last, before: nil, stamp: stamp)
      last = position
      let insert = SyncModel.Operation.Action.insert(ElementID(author, UInt64(index)), at: position, .string(letters[index]))
      history.append((stamp, Sight(state: state).operation(object(1), list, insert)))
    }
    state.merge(history, seq: Seq(1))
  }

  func programs(_ stamp: Stamp) -> [Enumeration.Program] {
    let sight = Sight(state: state)
    let elements = sight.elements(object(1), list)
    let name = ["", "x", "y", "z"][Int(stamp.replica.rawValue)]
    func position(_ index: Int, in elements: [ListElement]) -> ListPosition {
      var source = PositionSource()
      return source.position(
        after: index > 0 ? elements[index - 1].position : nil, before: index < elements.count ? elements[index].position : nil,
        stamp: stamp)
    }
    var all: [(String, SyncModel.Operation.Action)] = []
    for index in 0...3 {
      all.append(("insert\(index)", .insert(ElementID(stamp.replica, 0), at: position(index, in: elements), .string(name))))
    }
    for (index, element) in elements.enumerated() {
      all.append(("set\(index)", .setElement(element.id, near: element.position, .string(name + "!"))))
      let rest = elements.filter { $0.id != element.id }
      for target in 0...2 where target != index {
        all.append(("move\(index)\(target)", .move(element.id, from: element.position, to: position(target, in: rest))))
      }
      all.append(("erase\(index)", .erase(element.id, near: element.position)))
    }
    all.append(("clear", .clear))
    return all.map { ($0.0, [(stamp, sight.operation(object(1), list, $0.1))]) }
  }

  /// An insert stays unless somebody cleared; what was erased is gone; inserts at one place stand by time.
  static func faults(_ names: [String], _ clock: [Int], _ shown: [ObjectIdentity: Shown]) -> Int {
    var texts: [String] = []
    if case .list(let all) = shown[object(1)]?["L.L"] ?? .null { texts = all.map(\.description) }
    let isCleared = names.contains("clear")
    var faults = 0
    for (replica, name) in names.enumerated() {
      if name.hasPrefix("insert"), texts.contains(["x", "y", "z"][replica]) == isCleared { faults += 1 }
      if name.hasPrefix("erase"), texts.contains(["a", "b", "c"][Int(String(name.suffix(1))) ?? 0]) { faults += 1 }
    }
    if isCleared { return faults }
    for first in 0..<3 {
      for second in 0..<3 where names[first] == names[second] && names[first].hasPrefix("insert") && clock[first] < clock[second] {
        let (a, b) = (texts.firstIndex(of: ["x", "y", "z"][first]) ?? 9, texts.firstIndex(of: ["x", "y", "z"][second]) ?? -1)
        if a > b { faults += 1 }
      }
    }
    return faults
  }
}

/// Operations one after the other by one author, who sees what he did.
struct Author {
  private(set) var state: MemoryState
  private(set) var operations: [Stamped] = []
  private var next: Stamp

  init(_ state: MemoryState, _ first: Stamp) {
    self.state = state
    next = first
  }

  mutating func act(_ number: Int64 = 1, _ places: [PathStep.Place] = [], _ action: SyncModel.Operation.Action) {
    let operation = Sight(state: state).operation(object(number), places, action)
    operations.append((next, operation))
    _ = Merge.apply(operation, at: next, seq: .pending, to: &state)
    next = next.advanced(by: 1)
  }

  mutating func insert(_ id: UInt64, at index: Int, _ value: CellValue, in places: [PathStep.Place]) {
    let elements = Sight(state: state).elements(object(1), places)
    var source = PositionSource()
    let position = source.position(
      after: index > 0 ? elements[index - 1].position : nil, before: index < elements.count ? elements[index].position : nil,
      stamp: next)
    act(1, places, .insert(ElementID(next.replica, id), at: position, value))
  }

  func link(_ number: Int64) -> CellValue { Sight(state: state).link(object(number)) }
  func element(_ index: Int, _ places: [PathStep.Place]) -> ListElement { Sight(state: state).elements(object(1), places)[index] }
}

/// An object with something of every kind, and 31 small transactions.
struct MixedPrograms {
  private(set) var state = MemoryState()
  let history: [Stamped]

  init() {
    var author = Author(state, Stamp(milliseconds: 1, counter: 0, replica: ReplicaID(9)))
    author.act(1, [], .create)
    author.act(1, [], .set("x", .string("x0"), isDefault: false))
    author.act(1, [], .set("n", .int(0), isDefault: false))
    author.act(1, [.set("S")], .insertMember(.int(1)))
    author.act(1, [.map("M")], .setEntry("k", .int(1)))
    author.act(1, [.embedded("E")], .make)
    author.act(1, [.embedded("E")], .set("f", .int(1), isDefault: false))
    author.insert(1, at: 0, .string("a"), in: [.list("L")])
    author.insert(2, at: 1, .string("b"), in: [.list("L")])
    history = author.operations
    state.merge(history, seq: Seq(1))
  }

  func programs(_ time: UInt64, _ replica: ReplicaID) -> [Enumeration.Program] {
    let text = "\(replica)"
    func program(_ name: String, _ body: (inout Author) -> Void) -> Enumeration.Program {
      var author = Author(state, Stamp(milliseconds: time, counter: 0, replica: replica))
      body(&author)
      return (name, author.operations)
    }
    func set(_ name: Name, _ value: CellValue) -> SyncModel.Operation.Action { .set(name, value, isDefault: false) }
    let values: [Enumeration.Program] = [
      program("set x") { $0.act(set("x", .string("x" + text))) },
      program("null x") { $0.act(set("x", .null)) },
      program("default x") { $0.act(.set("x", .string("d" + text), isDefault: true)) },
      program("add") { $0.act(.add("n", 1)) },
      program("set n") { $0.act(set("n", .int(10))) },
      program("set n, add") { $0.act(set("n", .int(10))); $0.act(.add("n", 1)) },
      program("link self") { $0.act(set("link", $0.link(1))) },
    ]
    let objects: [Enumeration.Program] = [
      program("delete") { $0.act(.delete) },
      program("delete, create") { $0.act(.delete); $0.act(.create); $0.act(set("x", .string("r" + text))) },
      program("delete, create, delete") { $0.act(.delete); $0.act(.create); $0.act(.delete) },
      program("create") { $0.act(.create); $0.act(.set("x", .string("c" + text), isDefault: true)) },
      program("create 2") { $0.act(2, [], .create); $0.act(2, [], set("x", .string("n" + text))) },
      program("create 2, link") { $0.act(2, [], .create); $0.act(set("link", $0.link(2))) },
      program("delete 2") { $0.act(2, [], .delete) },
    ]
    let collections: [Enumeration.Program] = [
      program("insert member") { $0.act(1, [.set("S")], .insertMember(.int(2))) },
      program("erase member") { $0.act(1, [.set("S")], .eraseMember(.int(1))) },
      program("insert member again") { $0.act(1, [.set("S")], .insertMember(.int(1))) },
      program("clear set") { $0.act(1, [.set("S")], .clear) },
      program("clear set, insert") { $0.act(1, [.set("S")], .clear); $0.act(1, [.set("S")], .insertMember(.int(3))) },
      program("set entry") { $0.act(1, [.map("M")], .setEntry("k", .string("m" + text))) },
      program("erase entry") { $0.act(1, [.map("M")], .eraseEntry("k")) },
      program("clear map, set") { $0.act(1, [.map("M")], .clear); $0.act(1, [.map("M")], .setEntry("k", .string("z" + text))) },
      program("insert") { $0.insert(1, at: 1, .string("l" + text), in: [.list("L")]) },
      program("erase") { $0.act(1, [.list("L")], .erase($0.element(0, [.list("L")]).id, near: .none)) },
      program("set element") { $0.act(1, [.list("L")], .setElement($0.element(0, [.list("L")]).id, near: .none, .string("s" + text))) },
      program("move") {
        let (a, b) = ($0.element(0, [.list("L")]), $0.element(1, [.list("L")]))
        var source = PositionSource()
        let stamp = Stamp(milliseconds: time, counter: 0, replica: replica)
        $0.act(1, [.list("L")], .move(a.id, from: a.position, to: source.position(after: b.position, before: nil, stamp: stamp)))
      },
      program("clear list, insert") { $0.act(1, [.list("L")], .clear); $0.insert(1, at: 0, .string("l" + text), in: [.list("L")]) },
    ]
    let embedded: [Enumeration.Program] = [
      program("set f") { $0.act(1, [.embedded("E")], set("f", .string("f" + text))) },
      program("remove") { $0.act(1, [.embedded("E")], .remove) },
      program("remove, make") {
        $0.act(1, [.embedded("E")], .remove)
        $0.act(1, [.embedded("E")], .make)
        $0.act(1, [.embedded("E")], set("f", .string("g" + text)))
      },
      program("make") { $0.act(1, [.embedded("E")], .make) },
    ]
    return values + objects + collections + embedded
  }

  /// The rules in their own words, not as any merge would say them: delete wins, the last writer wins, counters add.
  static func faults(_ names: [String], _ clock: [Int], _ shown: [ObjectIdentity: Shown]) -> Int {
    let deletes = names.indices.filter { names[$0].hasPrefix("delete") && names[$0] != "delete 2" }
    if let last = deletes.max(by: { clock[$0] < clock[$1] }) {
      return (shown[object(1)] != nil) == (names[last] == "delete, create") ? 0 : 1
    }
    guard let one = shown[object(1)] else { return 1 }
    var faults = 0
    let sets = names.indices.filter { names[$0].hasPrefix("set n") }
    let adds = names.indices.filter { names[$0] == "add" || names[$0] == "set n, add" }
    let lastSet = sets.max { clock[$0] < clock[$1] }
    let counted = adds.filter { add in lastSet.map { clock[add] > clock[$0] || add == $0 } ?? true }.count
    let n = Int64((lastSet == nil ? 0 : 10) + counted)
    if one["V.n"] != .value(.int(n)) { faults += 1 }
    let writes = names.indices.filter { names[$0] == "set x" || names[$0] == "null x" }
    let last = writes.max { clock[$0] < clock[$1] }
    let x: CellValue = last.map { names[$0] == "set x" ? .string("x\($0 + 1)") : .null } ?? .string("x0")
    if one["V.x"] != .value(x) { faults += 1 }
    return faults
  }
}

extension Author {
  mutating func act(_ action: SyncModel.Operation.Action) { act(1, [], action) }
}

/// A list and a map of embedded objects, which hold lists themselves.
struct SlotPrograms {
  private(set) var state = MemoryState()
  let history: [Stamped]
  static let count = 16
  private let list: [PathStep.Place] = [.list("L")]
  private let map: [PathStep.Place] = [.map("M")]
  private var element: [PathStep.Place] { list + [.element(ElementID(ReplicaID(9), 1))] }
  private var entry: [PathStep.Place] { map + [.entry("k")] }

  init() {
    var author = Author(state, Stamp(milliseconds: 1, counter: 0, replica: ReplicaID(9)))
    author.act(.create)
    author.insert(1, at: 0, .null, in: list)
    author.act(1, list + [.element(ElementID(ReplicaID(9), 1))], .make)
    author.act(1, list + [.element(ElementID(ReplicaID(9), 1))], .set("f", .int(1), isDefault: false))
    author.insert(2, at: 0, .string("e"), in: list + [.element(ElementID(ReplicaID(9), 1)), .list("inner")])
    author.act(1, map, .setEntry("k", .null))
    author.act(1, map + [.entry("k")], .make)
    author.act(1, map + [.entry("k")], .set("f", .int(1), isDefault: false))
    history = author.operations
    state.merge(history, seq: Seq(1))
  }

  func programs(_ time: UInt64, _ replica: ReplicaID) -> [Enumeration.Program] {
    let text = CellValue.string("\(replica)")
    func program(_ name: String, _ body: (inout Author) -> Void) -> Enumeration.Program {
      var author = Author(state, Stamp(milliseconds: time, counter: 0, replica: replica))
      body(&author)
      return (name, author.operations)
    }
    let id = ElementID(ReplicaID(9), 1)
    return [
      program("set f") { $0.act(1, element, .set("f", text, isDefault: false)) },
      program("add f") { $0.act(1, element, .add("f", 1)) },
      program("insert inside") { $0.insert(3, at: 0, text, in: element + [.list("inner")]) },
      program("clear inside") { $0.act(1, element + [.list("inner")], .clear) },
      program("write element") { $0.act(1, list, .setElement(id, near: .none, text)) },
      program("replace element") {
        $0.act(1, list, .setElement(id, near: .none, .null))
        $0.act(1, element, .make)
        $0.act(1, element, .set("g", text, isDefault: false))
      },
      program("erase element") { $0.act(1, list, .erase(id, near: .none)) },
      program("clear list") { $0.act(1, list, .clear) },
      program("set f of entry") { $0.act(1, entry, .set("f", text, isDefault: false)) },
      program("embed in entry") { $0.act(1, entry + [.embedded("deep")], .make) },
      program("write entry") { $0.act(1, map, .setEntry("k", text)) },
      program("replace entry") {
        $0.act(1, map, .setEntry("k", .null))
        $0.act(1, entry, .make)
        $0.act(1, entry, .set("g", text, isDefault: false))
      },
      program("erase entry") { $0.act(1, map, .eraseEntry("k")) },
      program("clear map, make entry") {
        $0.act(1, map, .clear)
        $0.act(1, map, .setEntry("k", .null))
        $0.act(1, entry, .make)
      },
      program("delete") { $0.act(.delete) },
      program("delete, create, insert") {
        $0.act(.delete)
        $0.act(.create)
        $0.insert(4, at: 0, text, in: list)
      },
    ]
  }
}
