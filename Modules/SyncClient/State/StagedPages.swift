import SyncModel
import SyncProtocol

/// What a file has of the pages that a server sends in place of entries, while not all of them are there: on its disk, shown by nobody.
package struct StagedPages: Hashable, Sendable {
  /// What to tell the server to get the rest.
  package private(set) var begun: BegunPages
  /// The floor of the purge that is in all of them.
  package let floor: Stamp
  /// How many there are.
  package private(set) var count: Int

  /// None yet.
  ///
  /// - Parameters:
  ///   - bound: the server's answer after which they come, of mode `.delta` or `.snapshot`.
  ///   - first: the first of them.
  package init(of bound: Bound, _ first: StatePage) {
    let begun = BegunPages(
      mode: bound.mode, history: bound.history, asOf: first.asOf, stable: first.stable, judged: bound.judged, refusal: bound.refusal,
      next: [])
    self.init(begun, floor: first.floor, count: 0)
  }

  init(_ begun: BegunPages, floor: Stamp, count: Int) { (self.begun, self.floor, self.count) = (begun, floor, count) }

  /// Whether a server can be asked for the rest.
  package var canGoOn: Bool { count > 0 && !begun.next.isEmpty }

  /// Whether a page belongs to these: the server has not purged in between.
  package func fits(_ page: StatePage) -> Bool { page.stable == begun.stable && page.floor == floor }

  /// These, and the pages behind them.
  package func followed(by pages: [StatePage]) -> StagedPages {
    var all = self
    all.count += pages.count
    if let last = pages.last { all.begun.next = last.next.count <= BegunPages.nextBytes ? last.next : [] }
    return all
  }
}
