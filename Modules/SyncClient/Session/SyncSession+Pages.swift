import SyncModel
import SyncProtocol

// Pages of objects in place of entries.

/// The pages of a connection. In memory are those that the file has not been given; the server sends no more than may be under way before
/// they are on the disk.
struct ArrivingPages: Sendable {
  /// What the file has, or is being given.
  var staged: StagedPages
  /// What it was not given yet, and the bytes of that. After the last page was given, the bytes are left.
  var pages: [StatePage] = []
  var bytes = 0
  /// The bytes of what it is being given; nil while it is given nothing.
  var staging: Int?

  init(staged: StagedPages) { self.staged = staged }
}

extension SyncSession {
  mutating func take(
    _ page: StatePage, _ bytes: Int, _ now: Int64, _ random: Double, _ effects: inout [SyncSessionEffect]
  ) {
    // No page comes behind the last.
    guard let bound, !isIntegrating, arriving?.pages.last?.isLast != true else { return refuse(now, random, &effects) }
    let staged = arriving?.staged ?? StagedPages(of: bound, page)
    // The server has forgotten more in between: pages from before and after do not fit together. Nor does a first page from after to the
    // entries that follow from where the server was when it answered: it lacks what some of them lost against.
    guard staged.fits(page), arriving != nil || page.stable == bound.stable else {
      arriving = nil
      if staged.count > 0 { effects.append(.dropPages) }
      return fail(now, random, &effects)
    }
    if arriving == nil { arriving = ArrivingPages(staged: staged) }
    arriving?.pages.append(page)
    arriving?.bytes += bytes
    givePages(&effects)
  }

  /// Gives the file what has come: all together once the last page is there, and until then what is worth a commit.
  private mutating func givePages(_ effects: inout [SyncSessionEffect]) {
    guard let coming = arriving, coming.staging == nil, !isIntegrating, var bound, let last = coming.pages.last else { return }
    if last.isLast {
      isIntegrating = true
      bound.mode = coming.staged.begun.mode
      effects.append(.take(coming.pages, bound, behind: coming.staged.count, generation: generation))
      arriving?.pages = []
    } else if coming.bytes >= Int(clamping: configuration.stageBytes) {
      effects.append(.stage(coming.pages, behind: coming.staged, generation: generation))
      var next = ArrivingPages(staged: coming.staged.followed(by: coming.pages))
      next.staging = coming.bytes
      arriving = next
    }
  }

  mutating func haveStaged(_ effects: inout [SyncSessionEffect]) {
    guard let bytes = arriving?.staging else { return }
    arriving?.staging = nil
    settle(bytes, &effects)
    givePages(&effects)
  }

  /// Puts aside what came before the connection ends, if a server can go on behind it.
  mutating func keepPages(_ effects: inout [SyncSessionEffect]) {
    guard let coming = arriving, !isIntegrating else { return }
    arriving = nil
    let pages = coming.pages.filter { !$0.isLast }
    if let last = pages.last, !last.next.isEmpty { effects.append(.stage(pages, behind: coming.staged, generation: generation)) }
  }
}
