import StorageInterface
import SyncModel
import SyncProtocol

/// The pages of one walk over a server's objects, in order: those that the file has on its disk, then the last ones, which have just come.
/// For one write.
struct PageWalk {
  /// Those on the disk; nil for none.
  let staged: StagedPages?
  /// The others, up to the last.
  let fresh: [StatePage]
  let sides: any SideReading

  /// How many are on the disk.
  var stagedCount: Int { staged?.count ?? 0 }

  /// How many there are.
  var count: Int { stagedCount + fresh.count }

  /// The entries after this one follow the pages; nil if there is no page.
  var asOf: Seq? { staged?.begun.asOf ?? fresh.first?.asOf }

  /// A page by its number, from 0. O(the page); nothing of it is kept.
  func page(_ number: Int) throws(StorageError) -> StatePage {
    if number < stagedCount { return try StagedPages.page(number, sides) }
    return fresh[number - stagedCount]
  }
}
