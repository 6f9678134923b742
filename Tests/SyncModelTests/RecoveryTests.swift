import StoreValues
import SyncModel
import Testing

/// What waits is done again on top of a server that knows nothing of it.
@Suite struct RecoveryTests {
  private let thing = ObjectIdentity("Thing", .int(1))
  private let other = ObjectIdentity("Thing", .int(2))
  private let mine = ReplicaID(1)
  private let theirs = ReplicaID(2)
  private let renamed = ReplicaID(9)

  /// Somebody who acts on a state, one millisecond after the other.
  private struct Author {
    var state = MemoryState()
    let replica: ReplicaID
    var time: UInt64
    private(set) var made: [Changeset] = []

    init(_ state: MemoryState, _ replica: ReplicaID, at time: UInt64) {
      (self.state, self.replica, self.time) = (state, replica, time)
    }

    @discardableResult mutating func act(
      _ object: ObjectIdentity, in places: [PathStep.Place] = [], _ action: SyncModel.Operation.Action
    ) -> Stamp {
      time += 1
      let stamp = Stamp(milliseconds: time, counter: 0, replica: replica)
      let operation = SyncModel.Operation.made(on: object, places, action, seeing: state)
      _ = Merge.apply(operation, at: stamp, seq: .pending, to: &state)
      made.append(Changeset(clientSeq: UInt64(made.count + 1), baseSeq: .zero, first: stamp, operations: [operation]))
      return stamp
    }

    @discardableResult mutating func insert(_ number: UInt64, _ text: String, after left: ListPosition? = nil) -> ListPosition {
      let stamp = Stamp(milliseconds: time + 1, counter: 0, replica: replica)
      var source = PositionSource()
      let position = source.position(after: left, before: nil, stamp: stamp)
      act(ObjectIdentity("Thing", .int(1)), in: [.list("texts")], .insert(ElementID(replica, number), at: position, .string(text)))
      return position
    }
  }

  private func redo(
    _ waiting: [Changeset], over server: MemoryState, as replica: ReplicaID = ReplicaID(1), at time: UInt64 = 1_000,
    renamed: [ObjectIdentity: ObjectIdentity] = [:]
  ) -> MemoryState {
    var state = server
    var recovery = Recovery(as: replica, elements: 50, renamed: renamed)
    var stamp = Stamp(milliseconds: time, counter: 0, replica: replica)
    for changeset in waiting {
      let again = recovery.redo([changeset], in: &state) { () throws(Never) in
        stamp = stamp.advanced(by: 1)
        return stamp
      }
      for operation in again.redone?.operations ?? [] { #expect(operation.isWellFormed) }
    }
    return state
  }

  @Test func `what is lost is told, and what is gone in any case is not`() {
    var server = Author(MemoryState(), theirs, at: 1)
    server.act(thing, .create)
    var before = Author(server.state, theirs, at: 10)
    before.act(other, .create)
    var me = Author(before.state, mine, at: 100)
    me.act(thing, .set("x", .string("a"), isDefault: false))
    me.act(other, .set("x", .string("b"), isDefault: false))
    me.act(other, .delete)
    var (state, stamp) = (server.state, Stamp(milliseconds: 1_000, counter: 0, replica: mine))
    var recovery = Recovery(as: mine, elements: 0)
    var outcomes: [String] = []
    for changeset in me.made {
      let (redone, loses) = recovery.redo([changeset], in: &state) { () throws(Never) in
        stamp = stamp.advanced(by: 1)
        return stamp
      }
      outcomes.append("\(redone?.operations.count ?? 0) \(loses)")
    }
    #expect(outcomes == ["1 false", "0 true", "0 false"])
    #expect(recovery.lost == [other])
  }

  /// A thing that everybody knows.
  private func shared() -> MemoryState {
    var author = Author(MemoryState(), theirs, at: 10)
    author.act(thing, .create)
    return author.state
  }

  private func texts(_ state: MemoryState) -> [String] {
    state.elements(of: ListPlace(object: thing, path: [.list("texts")])).map { "\($0.slot.value)" }
  }

  private func contents(_ state: MemoryState) -> Contents { state.record(of: thing)?.node.contents ?? Contents() }

  // MARK: who was later

  @Test(arguments: [(UInt64(100), "mine"), (200, "theirs")]) func `whoever wrote later stays`(when: UInt64, winner: String) {
    var (server, file) = (Author(shared(), theirs, at: when), Author(shared(), mine, at: 150))
    func write(_ author: inout Author, _ text: String) {
      author.act(thing, .set("x", .string(text), isDefault: false))
      author.act(thing, in: [.map("notes")], .setEntry("k", .string(text)))
      if text == "mine" { author.act(thing, in: [.set("numbers")], .eraseMember(.int(1))) }
      if text != "mine" { author.act(thing, in: [.set("numbers")], .insertMember(.int(1))) }
    }
    write(&server, "theirs")
    write(&file, "mine")
    let state = redo(file.made, over: server.state)
    #expect(contents(state).values["x"]?.visible == .string(winner))
    #expect(contents(state).maps["notes"]?.entries["k"]?.slot.value == .string(winner))
    #expect(contents(state).sets["numbers"]?.members[CellValue.int(1).memberKey]?.isErased == (winner == "mine"))
  }

  @Test func `a default is written over nothing that somebody wrote, and a clock that was ahead changes nothing about one's own order`() {
    var (server, file) = (Author(shared(), theirs, at: 20), Author(shared(), mine, at: 900_000))
    server.act(thing, .set("rank", .int(3), isDefault: false))
    file.act(thing, .set("rank", .int(5), isDefault: true))
    file.act(thing, .set("x", .string("first"), isDefault: false))
    file.act(thing, .set("x", .string("second"), isDefault: false))
    let state = redo(file.made, over: server.state)
    #expect(contents(state).values["rank"]?.visible == .int(3))
    #expect(contents(state).values["x"]?.visible == .string("second"))
    #expect(contents(state).values["x"]?.key == .written(Stamp(milliseconds: 1_000, counter: 2, replica: mine)))
  }

  @Test(arguments: [(UInt64(100), Int64(14)), (200, 10)]) func `increments count on top of what was there, and not after somebody set it`(
    when: UInt64, sum: Int64
  ) {
    var (server, file) = (Author(shared(), theirs, at: when), Author(shared(), mine, at: 150))
    server.act(thing, .set("n", .int(10), isDefault: false))
    file.act(thing, .add("n", 4))
    #expect(contents(redo(file.made, over: server.state)).values["n"]?.visible == .int(sum))
  }

  // MARK: what is not there

  @Test func `a new object is created, one that others deleted is not brought back by an edit, and one that is there is deleted`() {
    var server = Author(shared(), theirs, at: 100)
    server.act(thing, .delete)
    var file = Author(shared(), mine, at: 150)
    file.act(thing, .set("x", .string("late"), isDefault: false))
    file.act(other, .create)
    file.act(other, .set("x", .string("new"), isDefault: false))
    let state = redo(file.made, over: server.state)
    #expect(state.record(of: thing)?.isAlive == false && contents(state).isEmpty)
    #expect(state.record(of: other)?.isAlive == true)
    var deleting = Author(shared(), mine, at: 150)
    deleting.act(thing, .delete)
    #expect(redo(deleting.made, over: shared()).record(of: thing)?.isAlive == false)
  }

  @Test func `links lead to the incarnation that is there`() {
    var server = Author(shared(), theirs, at: 100)
    server.act(other, .create)
    server.act(other, .delete)
    server.act(other, .create)
    var file = Author(shared(), mine, at: 150)
    file.act(thing, .set("link", .link(LinkTarget(other)), isDefault: false))
    let state = redo(file.made, over: server.state)
    guard case .link(let link) = contents(state).values["link"]?.visible else {
      Issue.record("no link")
      return
    }
    #expect(Merge.resolves(link, in: state))
  }

  // MARK: lists

  @Test func `what was inserted is inserted again, and what happened to elements that are gone is not`() {
    var base = Author(shared(), theirs, at: 20)
    let a = base.insert(1, "a")
    base.insert(2, "b", after: a)
    var server = Author(base.state, theirs, at: 100)
    server.act(thing, in: [.list("texts")], .erase(ElementID(theirs, 1), near: a))
    var file = Author(base.state, mine, at: 150)
    file.insert(1, "x", after: a)
    file.act(thing, in: [.list("texts")], .setElement(ElementID(theirs, 1), near: a, .string("changed")))
    file.act(thing, in: [.list("texts")], .setElement(ElementID(theirs, 2), near: .none, .string("kept")))
    let state = redo(file.made, over: server.state)
    #expect(Set(texts(state)) == Set(["x", "kept"].map { "\(CellValue.string($0))" }))
  }

  @Test func `another replica's elements get numbers of its own, and what was done to them follows`() {
    var file = Author(shared(), mine, at: 150)
    let first = file.insert(7, "mine")
    file.act(thing, in: [.list("texts")], .setElement(ElementID(mine, 7), near: first, .string("changed")))
    // The double gave the same number to something else.
    var double = Author(shared(), mine, at: 120)
    double.insert(7, "double")
    let state = redo(file.made, over: double.state, as: renamed)
    let elements = state.elements(of: ListPlace(object: thing, path: [.list("texts")]))
    #expect(elements.map(\.id).contains(ElementID(mine, 7)) && elements.map(\.id).contains(ElementID(renamed, 51)))
    #expect(elements.first { $0.id.replica == renamed }?.slot.value == .string("changed"))
    #expect(elements.first { $0.id.replica == mine }?.slot.value == .string("double"))
  }

  @Test func `places of a clock that was ahead stand before what is appended after them`() {
    var file = Author(shared(), mine, at: 900_000)
    let first = file.insert(1, "a")
    file.insert(2, "b", after: first)
    var later = Author(redo(file.made, over: shared()), theirs, at: 2_000)
    let last = later.state.elements(of: ListPlace(object: thing, path: [.list("texts")])).last?.position
    later.insert(3, "c", after: last)
    #expect(texts(later.state).count == 3 && texts(later.state).last == "\(CellValue.string("c"))")
    for changeset in later.made { changeset.forEachNamedStamp { #expect($0.milliseconds < 900_000) } }
  }

  // MARK: what a double has sent

  @Test func `a changeset that a server took in is known by what it left there`() {
    var file = Author(shared(), mine, at: 150)
    file.act(thing, .add("n", 4))
    file.act(thing, .set("x", .string("sent"), isDefault: false))
    let server = file.state
    file.act(thing, .set("x", .string("waits"), isDefault: false))
    let known = KnownChanges(of: mine, in: [Merge.objectState(of: thing, in: server)].compactMap { $0 })
    #expect(file.made.map { known.contains($0) } == [true, true, false])
    #expect(!KnownChanges(of: theirs, in: []).contains(file.made[0]))
  }

  @Test func `a large write of which only a part left a trace is not repeated`() {
    var file = Author(shared(), mine, at: 150)
    for text in ["first", "second", "third"] { file.act(thing, .set("x", .string(text), isDefault: false)) }
    let parts = file.made.map { made in
      Changeset(
        clientSeq: made.clientSeq, baseSeq: made.baseSeq, isContinued: made.clientSeq == 1, first: made.first, operations: made.operations)
    }
    var server = shared()
    Merge.apply(parts[0], seq: Seq(1), to: &server)
    let known = KnownChanges(of: mine, in: [Merge.objectState(of: thing, in: server)].compactMap { $0 })
    #expect(parts.map { known.contains($0) } == [true, false, false])
    #expect(known.rest(of: parts).map(\.clientSeq) == [3])
    #expect(KnownChanges(of: mine, in: []).rest(of: parts).map(\.clientSeq) == [1, 2, 3])
  }
}
