import SyncModel
import SyncProtocol
import SyncServer

/// A rule that one replica, or the server, breaks: a simulation has to find each.
public enum PlantedFault: String, CaseIterable, Sendable {
  // What the first replica makes of what others did.
  /// The last to arrive wins.
  case laterByArrival
  /// What is done to an object that was deleted meanwhile counts.
  case epochsOfObjectsIgnored
  case epochsOfNodesIgnored
  case deletesLost
  case createsLost
  case clearsLost
  case movesLost
  case incrementsAreSets
  case incrementsDoubled
  case defaultsCountAsWritten
  case linksToAnyIncarnation
  case erasuresLost
  // What it does with the log.
  case changesetsHalved
  case entriesLost
  case ownEntriesLost
  case purgesMissed
  case refusalsMissed
  // What it does with pages.
  case objectsOfPagesLost
  case purgesOfPagesMissed
  // What it says. To send void changesets is no fault that shows: the server refuses what builds on what it does not know.
  case refusalsUnreported
  case clockStandsStill
  // What the server does.
  case handlerForgets

  /// Whether it is the server's.
  var isOfServer: Bool { self == .handlerForgets }
}

extension PlantedFault {
  /// An entry as a replica with the fault takes it in; nil where it does not.
  func entry(_ entry: LogEntry) -> LogEntry? {
    switch (self, entry.body) {
    case (.entriesLost, .changeset): return entry.seq.rawValue.isMultiple(of: 5) ? nil : entry
    case (.ownEntriesLost, .own): return nil
    case (.purgesMissed, .purge), (.refusalsMissed, .refusal): return nil
    case (_, .changeset(let author, let changeset)):
      return LogEntry(entry.seq, .changeset(author: author, self.changeset(changeset, entry.seq)))
    default: return entry
    }
  }

  private func changeset(_ changeset: Changeset, _ seq: Seq) -> Changeset {
    var first = changeset.first
    // Later than all that came before, whatever its author's clock said.
    if self == .laterByArrival { first = Stamp(milliseconds: 3_000_000_000_000 + seq.rawValue * 1000, counter: 0, replica: first.replica) }
    let all = self == .changesetsHalved ? Array(changeset.operations.prefix(changeset.operations.count / 2)) : changeset.operations
    return Changeset(
      clientSeq: changeset.clientSeq, baseSeq: changeset.baseSeq, isContinued: changeset.isContinued, schemaHash: changeset.schemaHash,
      first: first, operations: all.map(operation))
  }

  /// What is lost becomes something that changes nothing, so that the stamps of the others stay.
  private func operation(_ given: SyncModel.Operation) -> SyncModel.Operation {
    let nothing = SyncModel.Operation(given.object, epoch: .zero, .set("nothing", .null, isDefault: true))
    func with(_ action: SyncModel.Operation.Action) -> SyncModel.Operation {
      SyncModel.Operation(given.object, epoch: given.epoch, path: given.path, action)
    }
    switch (self, given.action) {
    case (.deletesLost, .delete), (.createsLost, .create), (.clearsLost, .clear), (.movesLost, .move), (.erasuresLost, .erase),
      (.erasuresLost, .eraseMember), (.erasuresLost, .eraseEntry):
      return nothing
    case (.epochsOfObjectsIgnored, _): return SyncModel.Operation(given.object, epoch: .zero, path: given.path, given.action)
    case (.epochsOfNodesIgnored, _):
      let path = given.path.map { PathStep($0.place, epoch: .zero, near: $0.near) }
      return SyncModel.Operation(given.object, epoch: given.epoch, path: path, given.action)
    case (.incrementsAreSets, .add(let name, let delta)): return with(.set(name, .int(delta), isDefault: false))
    case (.incrementsDoubled, .add(let name, let delta)): return with(.add(name, delta * 2))
    case (.defaultsCountAsWritten, .set(let name, let value, _)): return with(.set(name, value, isDefault: false))
    case (.linksToAnyIncarnation, .set(let name, .link(let link), let isDefault)):
      return with(.set(name, .link(LinkTarget(link.object)), isDefault: isDefault))
    default: return given
    }
  }

  /// A page as a replica with the fault takes it in.
  func page(_ page: StatePage) -> StatePage {
    var page = page
    switch self {
    case .objectsOfPagesLost: page.objects = Array(page.objects.dropLast())
    case .purgesOfPagesMissed: (page.stable, page.floor) = (.zero, .zero)
    default: break
    }
    return page
  }
}
