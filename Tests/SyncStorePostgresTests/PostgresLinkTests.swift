#if Sync
import SyncModel
import SyncProtocol
import SyncServer
import SyncServerConformance
import Testing

@testable import SyncStorePostgres

@Suite("The index of links in PostgreSQL", .enabled(if: PostgresCluster.isInstalled, "PostgreSQL is not installed"))
struct PostgresLinkTests {
  private static let path = RandomAuthor.path
  private static let list = [PathStep(.list("links"), epoch: .zero)]
  private static let source = ObjectIdentity("Thing", .int(0))

  /// One replica's changes of a store, and what the index has of its objects.
  private struct Author {
    let stores: PostgresServerStore
    private let look: PostgresConnection
    private(set) var number: UInt64 = 0

    init() async throws {
      let (stores, address) = try await PostgresServerStore.forTest()
      (self.stores, look) = (stores, PostgresConnection(address: address, name: "look"))
      try await stores.makeStore(PostgresLinkTests.path)
      _ = try await stores.bind(PostgresLinkTests.path, ReplicaID(1), secret: [1], user: "u", at: 1)
    }

    /// Commits a transaction, and returns its first stamp.
    @discardableResult
    mutating func commit(_ operations: [Operation]) async throws -> Stamp {
      number += 1
      let first = Stamp(milliseconds: 1_000 + number, counter: 0, replica: ReplicaID(1))
      let changeset = Changeset(clientSeq: number, baseSeq: .zero, first: first, operations: operations)
      let outcomes = try await stores.commit(
        PostgresLinkTests.path, ReplicaID(1), [.changeset(changeset)], refusalSeen: .zero, at: 1_000_000) { _ in nil }
      guard case .accepted = outcomes.first else { throw ServerStoreError(.writesRefused, "\(outcomes)") }
      return first
    }

    func purge() async throws {
      let head = try await stores.heads([PostgresLinkTests.path])[PostgresLinkTests.path] ?? .zero
      let state = Acknowledgement(cursor: head, pendingBase: head, refusalSeen: .zero)
      try await stores.acknowledge(PostgresLinkTests.path, ReplicaID(1), state, at: 1)
      try #require(try await stores.purge(PostgresLinkTests.path, expiry: 0) != nil)
    }

    /// The targets that the index has, by the number of those that link to each.
    func links() async throws -> [[UInt8]: Int] {
      try await look.run { link throws(PostgresFailure) in
        let rows = try link.query("SELECT target, count(*) FROM sync_link GROUP BY target")
        var links: [[UInt8]: Int] = [:]
        for row in 0..<rows.count { links[try rows.bytes(row, 0)] = Int(try rows.int(row, 1)) }
        return links
      }
    }
  }

  private static func thing(_ number: Int) -> ObjectIdentity { ObjectIdentity("Thing", .int(Int64(number))) }

  private static func keys(_ numbers: some Sequence<Int>, _ count: Int = 1) -> [[UInt8]: Int] {
    Dictionary(uniqueKeysWithValues: numbers.map { (ObjectKeyBytes.bytes(of: thing($0)), count) })
  }

  private static func element(_ number: Int) -> (id: ElementID, position: ListPosition) {
    let step = ListPosition.Step(gap: Int64(number) * 1_024, bunch: Stamp(time: UInt64(number), replica: ReplicaID(1)))
    return (ElementID(ReplicaID(1), UInt64(number)), ListPosition([step]))
  }

  private static func inserting(_ number: Int, linkTo target: Int) -> Operation {
    let (id, position) = element(number)
    return Operation(source, epoch: .zero, path: list, .insert(id, at: position, .link(LinkTarget(thing(target)))))
  }

  private static func erasing(_ number: Int) -> Operation {
    let (id, position) = element(number)
    return Operation(source, epoch: .zero, path: list, .erase(id, near: position))
  }

  @Test("has what objects link to, however long their lists are, and nothing of what they linked to, or of deleted ones")
  func links() async throws {
    var author = try await Author()
    try await author.commit((0...300).map { Operation(PostgresLinkTests.thing($0), epoch: .zero, .create) })
    // Three pieces; the first object is in two of them.
    try await author.commit((1...300).map { PostgresLinkTests.inserting($0, linkTo: $0) } + [PostgresLinkTests.inserting(301, linkTo: 1)])
    #expect(try await author.links() == PostgresLinkTests.keys(1...300))
    try await author.commit([PostgresLinkTests.erasing(1), PostgresLinkTests.erasing(7)])
    #expect(try await author.links() == PostgresLinkTests.keys(Set(1...300).subtracting([7])))
    try await author.commit([PostgresLinkTests.erasing(301)])
    #expect(try await author.links() == PostgresLinkTests.keys(Set(2...300).subtracting([7])))
    // A list that becomes short enough for the object's row.
    try await author.commit((8...300).map { PostgresLinkTests.erasing($0) })
    #expect(try await author.links() == PostgresLinkTests.keys(2...6))
    for target in [5, 8] {
      let link = CellValue.link(LinkTarget(PostgresLinkTests.thing(target)))
      try await author.commit([Operation(PostgresLinkTests.source, epoch: .zero, .set("link", link, isDefault: false))])
      #expect(try await author.links() == PostgresLinkTests.keys(Set(2...6).union([target])))
    }
    try await author.commit([Operation(PostgresLinkTests.source, epoch: .zero, .delete)])
    #expect(try await author.links().isEmpty)
    await author.stores.close()
  }

  @Test("is read in parts when a purge severs many links, and has those to the next incarnation")
  func manyLinkers() async throws {
    var author = try await Author()
    let (hub, count) = (PostgresLinkTests.thing(0), 2_500)
    func linking(_ numbers: some Sequence<Int>, epoch: Stamp) -> [Operation] {
      numbers.map {
        let link = CellValue.link(LinkTarget(hub, epoch: epoch))
        return Operation(PostgresLinkTests.thing($0), epoch: .zero, .set("link", link, isDefault: false))
      }
    }
    try await author.commit((0...count).map { Operation(PostgresLinkTests.thing($0), epoch: .zero, .create) })
    try await author.commit(linking(1...count, epoch: .zero))
    try await author.purge()
    #expect(try await author.links() == PostgresLinkTests.keys([0], count))
    let epoch = try await author.commit([Operation(hub, epoch: .zero, .delete)])
    try await author.commit([Operation(hub, epoch: epoch, .create)] + linking(1...10, epoch: epoch))
    try await author.purge()
    #expect(try await author.links() == PostgresLinkTests.keys([0], 10))
    let page = try await author.stores.objects(PostgresLinkTests.path, changedAfter: .zero, behind: nil, limitBytes: .max)
    var state = MemoryState()
    state.setFloor(page.floor)
    for object in page.objects { Merge.replace(object.identity, with: object.state, in: &state) }
    var leading: Set<ObjectIdentity> = []
    for (object, record) in state.records {
      record.node.contents.forEachLink { if Merge.resolves($0, in: state) { leading.insert(object) } }
    }
    #expect(leading == Set((1...10).map { PostgresLinkTests.thing($0) }))
    await author.stores.close()
  }
}
#endif
