/// Decides which store of this process may write a file next; makes decisions only. It neither locks nor waits, and begins and ends
/// no write: `WriterQueue` has one for each open file, calls it under its only lock, and performs the action that a transition
/// returns after unlocking. The right to write itself is the engine's lock, which all processes share; a transaction is that right.
///
/// The right, as stores of this process have it:
///
///     holder   event                                               next      action
///     nobody   keep: its store notifies observers before it opens     kept
///     nobody   opened                                              open
///     kept     ask, by its store or deeper in its call stack       nobody    take(right)
///     kept     takeBack, by its store                              nobody    the right
///     open     ask, inside the code that the write runs            open      refuse(openFurtherUp)
///     open     willEnd, by its store                               ending
///     open     ask without a deadline, where it must continue      open      refuse(waitsForItself)
///     ending   ask as above                                        ending    refuse(waitsForItself)
///     ending   keep, opened: engine passed the right on already    kept, open
///     ending   ended, by its store                                 nobody
///
/// Events of a store other than the one that has the right change nothing.
///
/// A fetch: the worker gets the right for a store that continues in a turn of its context.
///
///     phase     event                                              next      action
///     (none)    fetch                                              fetching
///     fetching  ask, by its store or in its context                awaited   await(waiter): that thread blocks
///     fetching  came                                               arrived
///     awaited   came                                               arrived   wake(waiter)
///     awaited   gaveUp: the thread's deadline passed               fetching; (none) without its store
///     arrived   ask, by its store or in its context                (none)    take(right); if it failed, as without it
///     arrived   take, by its turn or the woken thread              (none)    the result
///     any       abandon: its store is deinitialized                (none)    release(right), if it is there
///     awaited   abandon                                            awaited, for that thread only
///     (none)    came                                               (none)    release(right)
///
/// The line of those that will ask the engine one after the other. The first has always been woken.
///
///     place     event                                              action
///     (none)    join; ask, if the line is occupied                 wake(waiter), if it is the first; stand(waiter)
///     first     leave                                              wake(the next)
///     behind    leave                                              wake(waiter): nothing waits in a place that was left
struct WriterStateMachine<Site: WritingSite, Waiter: Equatable, Right> {
  /// A store's number, unique in the process.
  typealias Owner = UInt64

  enum Holder {
    case nobody
    case kept(Owner, Site, Right)
    case open(Owner, Site)
    case ending(Owner, Site)
  }

  struct Fetch {
    enum Phase {
      case fetching
      case awaited
      case arrived(Result<Right, StoreError>)
    }

    let waiter: Waiter
    let site: Site
    /// nil: the store is deinitialized.
    var owner: Owner?
    var phase = Phase.fetching
  }

  private(set) var holder = Holder.nobody
  /// The store whose write runs code, and where. The write may end before the code returns.
  private(set) var body: (owner: Owner, site: Site)?
  /// In the order of the requests.
  private(set) var fetches: [Fetch] = []
  private(set) var line: [Waiter] = []

  // MARK: - Asking

  enum Answer {
    /// The right itself.
    case take(Right)
    /// Block until the fetch wakes this, then take its right, or ask again if it has none.
    case await(Waiter)
    /// Block until the place is at the front, begin at the engine, leave.
    case stand(Waiter)
    /// Begin at the engine, whose queue is shared by all processes.
    case begin
    case refuse(Refusal)
  }

  enum Refusal {
    /// A write is open further up the call stack, and ends after this one.
    case openFurtherUp(Site)
    /// Waiting for the open write would deadlock.
    case waitsForItself(Site)
  }

  /// The ways in which a caller may wait.
  struct Patience {
    /// There is no deadline.
    var isEndless = true
    /// False on the worker: the writes in line wait for it.
    var mayStand = true
  }

  /// Decides how a store that wants to write now gets the right.
  mutating func ask(_ owner: Owner, at site: Site, _ patience: Patience, _ waiter: @autoclosure () -> Waiter) -> Answer {
    if case .kept(let keeper, let place, let right) = holder, keeper == owner || place.isSameThread(as: site) {
      holder = .nobody
      return .take(right)
    }
    if let open = openFurtherUp(from: site) { return .refuse(.openFurtherUp(open)) }
    let holding = holderSite.flatMap { patience.isEndless && $0.holdsUp(site) ? $0 : nil }
    let isStuck = holding != nil
    // The fetch is ahead of this call in the engine's queue, and its turn could only come after this call.
    while let at = fetch(for: owner, at: site) {
      guard case .arrived(let result) = fetches[at].phase else {
        if isStuck { break }
        fetches[at].phase = .awaited
        return .await(fetches[at].waiter)
      }
      fetches.remove(at: at)
      if case .success(let right) = result { return .take(right) }
    }
    if let holding { return .refuse(.waitsForItself(holding)) }
    guard patience.mayStand, !line.isEmpty else { return .begin }
    line.append(waiter())
    return .stand(line[line.count - 1])
  }

  private func fetch(for owner: Owner, at site: Site) -> Int? {
    fetches.firstIndex { $0.owner == owner } ?? fetches.firstIndex { $0.site.isSameContext(as: site) }
  }

  /// The site where the write further up the call stack began.
  private func openFurtherUp(from site: Site) -> Site? {
    guard case .open(let owner, let begun) = holder, let body, body.owner == owner else { return nil }
    return body.site.isSameThread(as: site) ? begun : nil
  }

  private var holderSite: Site? {
    switch holder {
    case .open(_, let site), .ending(_, let site): site
    case .nobody, .kept: nil
    }
  }

  // MARK: - Holding

  /// Keeps the right of a store that notifies its observers of earlier commits. A write of theirs takes it.
  mutating func keep(_ right: Right, for owner: Owner, at site: Site) { holder = .kept(owner, site, right) }

  /// Takes the right back after observers were notified; nil if one of them wrote with it.
  mutating func takeBack(_ owner: Owner) -> Right? {
    guard case .kept(owner, _, let right) = holder else { return nil }
    holder = .nobody
    return right
  }

  mutating func opened(_ owner: Owner, at site: Site) { holder = .open(owner, site) }

  /// From now on the engine may give the right to the next writer.
  mutating func willEnd(_ owner: Owner) {
    if case .open(owner, let site) = holder { holder = .ending(owner, site) }
  }

  mutating func ended(_ owner: Owner) {
    switch holder {
    case .open(owner, _), .ending(owner, _): holder = .nobody
    default: break
    }
  }

  mutating func beginBody(_ owner: Owner, at site: Site) { body = (owner, site) }

  /// Ignored if another store, on another thread too, has begun a body since.
  mutating func endBody(_ owner: Owner) { if body?.owner == owner { body = nil } }

  // MARK: - Fetching

  /// The action to perform for a fetch after unlocking.
  enum Action {
    case none
    case wake(Waiter)
    case release(Right)
  }

  mutating func fetch(_ owner: Owner, at site: Site, _ waiter: Waiter) {
    fetches.append(Fetch(waiter: waiter, site: site, owner: owner))
  }

  mutating func came(_ waiter: Waiter, _ result: Result<Right, StoreError>) -> Action {
    guard let at = fetches.firstIndex(where: { $0.waiter == waiter }) else { return release(result) }
    let phase = fetches[at].phase
    fetches[at].phase = .arrived(result)
    if case .awaited = phase { return .wake(waiter) }
    return .none
  }

  /// The result of a fetch, for the first caller; nil if it has not arrived, or was taken.
  mutating func take(_ waiter: Waiter) -> Result<Right, StoreError>? {
    guard let at = fetches.firstIndex(where: { $0.waiter == waiter }), case .arrived(let result) = fetches[at].phase else { return nil }
    fetches.remove(at: at)
    return result
  }

  /// Whether the fetch's right has not been taken yet, arrived or not.
  func isFetched(_ waiter: Waiter) -> Bool { fetches.contains { $0.waiter == waiter } }

  /// The waiting thread's deadline passed; it continues without the right.
  mutating func gaveUp(_ waiter: Waiter) -> Action {
    guard let at = fetches.firstIndex(where: { $0.waiter == waiter }) else { return .none }
    if case .awaited = fetches[at].phase { fetches[at].phase = .fetching }
    return fetches[at].owner == nil ? drop(at) : .none
  }

  /// The fetch's store will not take the right.
  mutating func abandon(_ waiter: Waiter) -> Action {
    guard let at = fetches.firstIndex(where: { $0.waiter == waiter }) else { return .none }
    fetches[at].owner = nil
    if case .awaited = fetches[at].phase { return .none }
    return drop(at)
  }

  private mutating func drop(_ at: Int) -> Action {
    if case .arrived(let result) = fetches.remove(at: at).phase { return release(result) }
    return .none
  }

  private func release(_ result: Result<Right, StoreError>) -> Action {
    if case .success(let right) = result { return .release(right) }
    return .none
  }

  // MARK: - The line

  /// Takes the last place. Returns the waiter to wake.
  mutating func join(_ waiter: Waiter) -> Waiter? {
    line.append(waiter)
    return line.count == 1 ? waiter : nil
  }

  /// Leaves the line. Returns the waiter to wake. Idempotent.
  mutating func leave(_ waiter: Waiter) -> Waiter? {
    guard let at = line.firstIndex(of: waiter) else { return nil }
    line.remove(at: at)
    return at == 0 ? line.first : waiter
  }
}

/// Where a store writes, or wants to write.
protocol WritingSite: Sendable {
  /// Whether both are on one thread: the later one in a call made by the earlier one.
  func isSameThread(as other: Self) -> Bool
  /// Whether code of one store can never run concurrently with code of the other.
  func isSameContext(as other: Self) -> Bool
  /// Whether a write opened here can only continue where the other store would block.
  func holdsUp(_ waiting: Self) -> Bool
}
