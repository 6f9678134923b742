import ChangeTracker
import StorageInterface
import SyncClient
import SyncModel
import SyncProtocol
import SyncServer
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// A file keeps pages of objects until all are there, and then shows them in one commit.
@MainActor @Suite struct StagedPagesTests {
  private let directory = TemporaryDirectory("staged")
  private let time = SimulatedTime()
  private let server = MemoryServerStore(random: SeededGenerator(seed: 3))

  /// What a file was before the pages came.
  enum Beginning: CaseIterable, Sendable {
    case new
    /// It had what the server had earlier.
    case joined
    /// And has changes that the server does not have.
    case waiting
    /// The same as another replica.
    case anew
  }

  private func path() throws -> StorePath { try #require(StorePath("/ann/things")) }

  private func replica(_ id: UInt64, _ engine: Engine) throws -> SimulatedReplica {
    try SimulatedReplica(id, engine.configuration(directory, "\(id)"), time: time)
  }

  /// Sends and takes in everything.
  private func sync(_ replica: SimulatedReplica) async throws {
    let (all, refusalSeen) = try await replica.uploads()
    let outcomes = try await server.commit(path(), replica.id, all, refusalSeen: refusalSeen, at: time.now()) { _ in nil }
    for outcome in outcomes { guard case .accepted = outcome else { throw Divergence("\(outcome)") } }
    try await download(replica)
  }

  private func download(_ replica: SimulatedReplica) async throws {
    _ = try await replica.download(server, path(), limitBytes: 1 << 20, isLost: false)
  }

  /// The server's answer to a replica that is to take all objects, and the objects, each on a page.
  private func walk(_ replica: SimulatedReplica) async throws -> (Bound, [StatePage]) {
    let secret = [UInt8(truncatingIfNeeded: replica.id.rawValue)]
    let standing = try await server.bind(path(), replica.id, secret: secret, user: "ann", at: time.now())
    var pages: [StatePage] = []
    repeat {
      let last = pages.last?.objects.last?.identity
      pages.append(try await server.objects(path(), changedAfter: .zero, behind: last, limitBytes: 1))
      pages[pages.count - 1].next = pages[pages.count - 1].isLast ? [] : [1]
    } while pages.last?.isLast == false
    let bound = Bound(
      mode: .snapshot, rights: [.read, .write], history: standing.history, head: standing.head, stable: standing.stable,
      judged: standing.judged, judgedStamp: standing.judgedStamp, refusal: standing.refusal, refused: standing.refused, schemaHash: 0,
      credit: 0)
    return (bound, pages)
  }

  /// Has a file put all pages aside but the last; returns what it has then.
  private func stage(_ pages: [StatePage], _ bound: Bound, _ file: SessionFile) async throws -> StagedPages {
    var staged = StagedPages(of: bound, pages[0])
    for page in pages.dropLast() {
      try await file.stage([page], behind: staged)
      staged = staged.followed(by: [page])
    }
    return staged
  }

  private func takeStaged(_ replica: SimulatedReplica) async throws {
    let file = SessionFile(try replica.store.file)
    _ = try await file.standing()
    let (bound, pages) = try await walk(replica)
    let staged = try await stage(pages, bound, file)
    _ = try await file.take(Array(pages.suffix(1)), bound, behind: staged.count, clockOffset: nil, wall: replica.wall)
    try replica.store.refresh()
  }

  private func expectServer(_ replica: SimulatedReplica) async throws {
    let all = try await server.objects(path(), changedAfter: .zero, behind: nil, limitBytes: 1 << 30)
    var state = MemoryState()
    state.setFloor(all.floor)
    for object in all.objects { Merge.replace(object.identity, with: object.state, in: &state) }
    let (file, expected) = (try await replica.check().file, Picture(state))
    #expect(file == expected, "\(file.difference(from: expected))")
  }

  @Test(arguments: Engine.allCases, Beginning.allCases)
  func `what was put aside page by page becomes what it is as a whole`(engine: Engine, beginning: Beginning) async throws {
    var random = SeededGenerator.forTest("\(#function) \(engine) \(beginning)")
    try await server.makeStore(path())
    let (author, reader) = (try replica(1, .memory), try replica(2, engine))
    try await download(author)
    for _ in 0..<25 { try author.edit(&random) }
    try await sync(author)
    if beginning != .new {
      try await download(reader)
      for _ in 0..<10 { try reader.edit(&random) }
      try await sync(reader)
      try await download(author)
      for _ in 0..<25 { try author.edit(&random) }
      try await sync(author)
    }
    if beginning == .waiting || beginning == .anew { for _ in 0..<10 { try reader.edit(&random) } }
    if beginning == .anew { try await reader.beginAnew(asAnother: true) }
    try await takeStaged(reader)
    try await reader.check("\(beginning)")
    try await sync(reader)
    try await expectServer(reader)
    #expect(try await SessionFile(try reader.store.file).standing().staged == nil)
  }

  @Test(arguments: Engine.allCases) func `nobody sees anything before all is there, and then one change`(engine: Engine) async throws {
    try await server.makeStore(path())
    let (author, reader) = (try replica(1, .memory), try replica(2, engine))
    try await download(author)
    for id in 1...5 { try make(id, author) }
    try await sync(author)
    let store = try reader.store
    var insertions: [Int] = []
    let token = store.objects(Thing.self).observe { change in
      if case .update(_, _, let inserted, _) = change { insertions.append(inserted.count) }
    }
    let file = SessionFile(store.file)
    _ = try await file.standing()
    let (bound, pages) = try await walk(reader)
    let staged = try await stage(pages, bound, file)
    #expect(staged.count == 4)
    store.refresh()
    #expect(store.objects(Thing.self).count == 0 && insertions.isEmpty)
    _ = try await file.take(Array(pages.suffix(1)), bound, behind: 4, clockOffset: nil, wall: reader.wall)
    store.refresh()
    #expect(store.objects(Thing.self).count == 5 && insertions == [5])
    token.stop()
  }

  @Test(arguments: [Engine.lmdb, .sqlite])
  func `a process that begins again has what the one before put aside`(engine: Engine) async throws {
    try await server.makeStore(path())
    let (author, reader) = (try replica(1, .memory), try replica(2, engine))
    try await download(author)
    for id in 1...5 { try make(id, author) }
    try await sync(author)
    _ = try await SessionFile(try reader.store.file).standing()
    let (bound, pages) = try await walk(reader)
    let staged = try await stage(pages, bound, SessionFile(try reader.store.file))
    try reader.restart()
    let file = SessionFile(try reader.store.file)
    #expect(try await file.standing().staged == staged && staged.canGoOn)
    // What is written meanwhile waits, and stays.
    try make(9, reader)
    _ = try await file.take(Array(pages.suffix(1)), bound, behind: 4, clockOffset: nil, wall: reader.wall)
    try reader.store.refresh()
    #expect(try reader.store.objects(Thing.self).count == 6)
    try await sync(reader)
    try await expectServer(reader)
  }

  @Test(arguments: Engine.allCases) func `what is damaged is discarded, and said to be`(engine: Engine) async throws {
    try await server.makeStore(path())
    let (author, reader) = (try replica(1, .memory), try replica(2, engine))
    try await download(author)
    for id in 1...5 { try make(id, author) }
    try await sync(author)
    let file = SessionFile(try reader.store.file)
    _ = try await file.standing()
    let (bound, pages) = try await walk(reader)
    let page: [UInt8] = [UInt8(ascii: "p"), 0, 0, 0, 2]
    // A page that is cut, of which a bit has changed, that is not there; then the list of them.
    for damage in 0..<4 {
      let staged = try await stage(pages, bound, file)
      try await reader.store.integrate { write in
        guard let sides = write.transaction.writePowers.sides, var bytes = try sides.side(page) else { throw Divergence("no page") }
        switch damage {
        case 0: try sides.setSide(page, Array(bytes.dropLast()))
        case 1:
          bytes[bytes.count / 2] ^= 4
          try sides.setSide(page, bytes)
        case 2: try sides.setSide(page, nil)
        default: try sides.setSide([UInt8(ascii: "s"), 5], [1, 2, 3])
        }
      }
      let error = await #expect(throws: (any Error).self) {
        if damage == 3 { _ = try await file.standing() }
        _ = try await file.take(Array(pages.suffix(1)), bound, behind: staged.count, clockOffset: nil, wall: 0)
      }
      let code = (error as? StoreError)?.code.rawValue ?? (error as? StorageError)?.code.rawValue
      #expect(code == StorageError.Code.stagedPagesDamaged.rawValue)
      #expect(try await file.standing().staged == nil)
      try reader.store.refresh()
      #expect(try reader.store.objects(Thing.self).count == 0)
    }
    try await takeStaged(reader)
    try await expectServer(reader)
  }

  @Test func `what is of another time is of no use, and goes`() async throws {
    try await server.makeStore(path())
    let (author, reader) = (try replica(1, .memory), try replica(2, .memory))
    try await download(author)
    for id in 1...5 { try make(id, author) }
    try await sync(author)
    let file = SessionFile(try reader.store.file)
    _ = try await file.standing()
    let (bound, pages) = try await walk(reader)
    // It begins anew.
    _ = try await stage(pages, bound, file)
    #expect(try await file.beginAnew(as: nil).staged == nil)
    // Others have taken in something meanwhile, as an older build would, which knows nothing of pages.
    let staged = try await stage(pages, bound, file)
    try await reader.store.integrate { write in
      var changes = try RemoteChanges(write)
      try changes.finish(at: Seq(2))
    }
    #expect(try await file.standing().staged == nil)
    let error = await #expect(throws: StoreError.self) { try await file.stage([pages[4]], behind: staged) }
    #expect(error?.code.rawValue == StorageError.Code.stagedPagesDamaged.rawValue)
    // The first page of another walk takes the place of all that there was.
    _ = try await stage(pages, bound, file)
    try await file.stage([pages[0]], behind: StagedPages(of: bound, pages[0]))
    #expect(try await file.standing().staged?.count == 1)
    try await file.dropPages()
    #expect(try await file.standing().staged == nil)
  }

  private func make(_ id: Int, _ replica: SimulatedReplica) throws {
    let thing = Thing()
    thing.id = id
    thing.texts.append("of \(id)")
    let store = try replica.store
    try store.write {
      try store.add(thing)
      if id > 1 { thing.link = store.object(Thing.self, forPrimaryKey: id - 1) }
    }
  }
}
