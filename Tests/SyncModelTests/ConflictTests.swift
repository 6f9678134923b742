import StoreValues
import SyncModel
import Testing

/// The table of conflicts in Docs/SyncModel.md, a test for each row that the enumerations do not name.
@Suite struct ConflictTests {
  private let base = MixedPrograms.shared

  /// Two authors act without seeing each other; the first has the earlier clock. What all then see, in both orders.
  private func meet(
    _ first: (inout Author) -> Void, _ second: (inout Author) -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) -> Shown {
    var authors = (1...2).map { Author(base.state, Stamp(milliseconds: UInt64(10 * $0), counter: 0, replica: ReplicaID(UInt64($0)))) }
    first(&authors[0])
    second(&authors[1])
    var (ahead, behind) = (base.state, base.state)
    ahead.merge(authors[0].operations + authors[1].operations)
    behind.merge(authors[1].operations + authors[0].operations)
    #expect(ahead == behind, sourceLocation: sourceLocation)
    return ShownReader(state: ahead).object(object(1)) ?? .null
  }

  private func set(_ value: CellValue, isDefault: Bool = false) -> SyncModel.Operation.Action { .set("x", value, isDefault: isDefault) }

  @Test func `delete wins over an edit that is later`() {
    #expect(meet({ $0.act(.delete) }, { $0.act(set(.int(1))) }) == .null)
  }

  @Test func `what is created again after a delete lives through an edit of the old, and dies of a later delete`() {
    let again = meet({ $0.act(.delete); $0.act(.create) }, { $0.act(set(.int(1))) })
    #expect(again["V.x"] == .null && again != .null)
    #expect(meet({ $0.act(.delete); $0.act(.create) }, { $0.act(.delete) }) == .null)
    #expect(meet({ $0.act(.delete) }, { $0.act(.delete); $0.act(.create) }) != .null)
  }

  @Test func `the last writer wins, and a default loses to what was written by intent`() {
    #expect(meet({ $0.act(set(.int(1))) }, { $0.act(set(.int(2))) })["V.x"] == .value(.int(2)))
    #expect(meet({ $0.act(set(.int(1))) }, { $0.act(set(.int(2), isDefault: true)) })["V.x"] == .value(.int(1)))
  }

  @Test func `increments add up, survive an earlier write and not a later one, and outlive null`() {
    #expect(meet({ $0.act(.add("n", 2)) }, { $0.act(.add("n", 3)) })["V.n"] == .value(.int(5)))
    func set(_ value: CellValue) -> SyncModel.Operation.Action { .set("n", value, isDefault: false) }
    #expect(meet({ $0.act(set(.int(10))) }, { $0.act(.add("n", 3)) })["V.n"] == .value(.int(13)))
    #expect(meet({ $0.act(.add("n", 3)) }, { $0.act(set(.int(10))) })["V.n"] == .value(.int(10)))
    #expect(meet({ $0.act(set(.null)) }, { $0.act(.add("n", 3)) })["V.n"] == .null)
    #expect(meet({ $0.act(.add("n", .max)) }, { $0.act(.add("n", 1)) })["V.n"] == .value(.int(.min)))
    #expect(meet({ $0.act(.add("new", 3)) }, { $0.act(.add("new", 4)) })["V.new"] == .value(.int(7)))
  }

  @Test func `clear wins over a later insert, and what the clearer adds stays`() {
    let list = meet(
      { $0.act(1, [.list("L")], .clear); $0.insert(1, at: 0, .string("kept"), in: [.list("L")]) },
      { $0.insert(1, at: 1, .string("gone"), in: [.list("L")]) })
    #expect(list["L.L"] == .list([.value(.string("kept"))]))
  }

  @Test func `an element is erased once, whatever else happens to it`() {
    let list: [PathStep.Place] = [.list("L")]
    let shown = meet(
      { $0.act(1, list, .erase($0.element(0, list).id, near: .none)) },
      { $0.act(1, list, .setElement($0.element(0, list).id, near: .none, .string("late"))) })
    #expect(shown["L.L"] == .list([.value(.string("b"))]))
  }

  @Test func `members that are equal are one member, in the form of the later writer`() {
    let double = CellValue.plain(PlainValue(.double(2)) ?? .null)
    let shown = meet({ $0.act(1, [.set("S")], .insertMember(.int(2))) }, { $0.act(1, [.set("S")], .insertMember(double)) })
    #expect(shown["S.S"] == .set([.int(1), double]))
  }

  @Test func `a link leads to the incarnation that its author saw`() {
    let shown = meet({ $0.act(.set("link", $0.link(1), isDefault: false)) }, { $0.act(.delete); $0.act(.create) })
    #expect(shown != .null && shown["V.link"] == .null)
  }

  @Test func `a name used for two kinds is two cells`() {
    let shown = meet({ $0.act(set(.int(1))) }, { $0.act(1, [.set("x")], .insertMember(.int(2))) })
    #expect(shown["V.x"] == .value(.int(1)) && shown["S.x"] == .set([.int(2)]))
  }

  @Test func `an operation that loses has no effect and writes nothing`() {
    var state = base.state
    let late = Stamp(milliseconds: 50, counter: 0, replica: ReplicaID(1))
    let sight = Sight(state: state)
    let write = sight.operation(object(1), set(.int(1)))
    #expect(Merge.apply(write, at: late, seq: Seq(2), to: &state).count == 1)
    let before = state
    #expect(Merge.apply(write, at: Stamp(milliseconds: 40, counter: 0, replica: ReplicaID(2)), seq: Seq(3), to: &state).isEmpty)
    #expect(Merge.apply(write, at: late, seq: Seq(3), to: &state).isEmpty)
    #expect(state == before)
  }
}
