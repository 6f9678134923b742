import SyncModel
import SyncProtocol
import SyncServer

/// Ann's changes of two objects: a target, which is deleted and made again, and one that links to it.
private struct Linking {
  let bench: Bench
  private let target = Bench.thing(1)
  private let source = Bench.thing(2)
  private var number: UInt64 = 0
  /// The incarnation of the target, as its author knows it.
  private(set) var epoch = Stamp.zero

  init(_ bench: Bench) async throws {
    self.bench = bench
    try await bench.bindBoth()
    try await commit([Operation(target, epoch: .zero, .create), Operation(source, epoch: .zero, .create)])
  }

  private mutating func commit(_ operations: [Operation]) async throws {
    number += 1
    let first = Stamp(milliseconds: 1_000 + number, counter: 0, replica: Bench.ann)
    let changeset = Changeset(clientSeq: number, baseSeq: .zero, first: first, operations: operations)
    guard case .accepted = try await bench.commit(Bench.ann, [.changeset(changeset)]).first else {
      throw ServerStoreFailure(description: "change \(number) was not taken in")
    }
  }

  private var value: CellValue { .link(LinkTarget(target, epoch: epoch)) }

  mutating func link() async throws { try await commit([Operation(source, epoch: .zero, .set("link", value, isDefault: false))]) }

  mutating func unlink() async throws { try await commit([Operation(source, epoch: .zero, .set("link", .null, isDefault: false))]) }

  /// Links from a set as well.
  mutating func linkFromSet() async throws {
    try await commit([Operation(source, epoch: .zero, path: [PathStep(.set("links"), epoch: .zero)], .insertMember(value))])
  }

  mutating func remakeTarget() async throws {
    try await commit([Operation(target, epoch: epoch, .delete)])
    epoch = Stamp(milliseconds: 1_000 + number, counter: 0, replica: Bench.ann)
    try await commit([Operation(target, epoch: epoch, .create)])
  }

  /// Has the store forget everything, the target's incarnation too.
  mutating func purge() async throws {
    let head = try await bench.head()
    for replica in [Bench.ann, Bench.bob] { try await bench.acknowledge(replica, head.rawValue) }
    guard let purge = try await bench.stores.purge(Bench.path, expiry: 0) else { throw ServerStoreFailure(description: "nothing purged") }
    try bench.expect(purge.stable, head)
    epoch = .zero
  }

  /// Expects that what links to the target leads there, or nowhere, for a device that takes the store's objects, and for one that has
  /// followed the log.
  func expectLink(_ leads: Bool, _ what: String, line: UInt = #line) async throws {
    let page = try await bench.stores.objects(Bench.path, changedAfter: .zero, behind: nil, limitBytes: .max)
    var new = MemoryState()
    new.setFloor(page.floor)
    for object in page.objects { Merge.replace(object.identity, with: object.state, in: &new) }
    var old = MemoryState()
    for entry in try await bench.changes(Bench.bob).entries {
      switch entry.body {
      case .changeset(_, let changeset): Merge.apply(changeset, seq: entry.seq, to: &old)
      case .purge(let purge): Merge.purge(purge, in: &old)
      default: break
      }
    }
    for (device, state) in [("old", old), ("new", new)] {
      var links: [LinkTarget] = []
      state.record(of: source)?.node.contents.forEachLink { links.append($0) }
      try bench.expect(links.map { Merge.resolves($0, in: state) }, [leads], "\(device): \(what)", line: line)
    }
  }
}

let linkChecks: [ServerStoreCheck] = [
  ServerStoreCheck("aLinkThatAPurgeLeavesIsSeveredByTheNextOne") { bench in
    var linking = try await Linking(bench)
    try await linking.remakeTarget()
    try await linking.link()
    try await linking.purge()
    try await linking.expectLink(true, "the incarnation that it names is there")
    try await linking.remakeTarget()
    try await linking.expectLink(false, "another incarnation is there")
    try await linking.purge()
    try await linking.expectLink(false, "the incarnation that it names is forgotten")
  },
  ServerStoreCheck("whoseLinkWasSeveredLinksAgain") { bench in
    var linking = try await Linking(bench)
    for round in 1...3 {
      try await linking.link()
      // The purge that severs the link finds nothing else to do with whoever has it.
      try await linking.purge()
      try await linking.expectLink(true, "linked, round \(round)")
      try await linking.remakeTarget()
      try await linking.purge()
      try await linking.expectLink(false, "forgotten, round \(round)")
    }
  },
  ServerStoreCheck("anotherLinkToTheSameObjectIsSeveredThoughOneWasWrittenOver") { bench in
    var linking = try await Linking(bench)
    try await linking.linkFromSet()
    try await linking.link()
    try await linking.unlink()
    try await linking.purge()
    try await linking.expectLink(true, "the set's is left")
    try await linking.remakeTarget()
    try await linking.purge()
    try await linking.expectLink(false, "forgotten")
  },
]
