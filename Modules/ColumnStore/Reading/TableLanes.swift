import StorageInterface
import StoreValues

/// A transaction's lanes of a table. What it has read from them stays valid as long as this object.
final class TableLanes {
  let frames: LaneView<ChunkFrame>
  /// The budget has no room for more slots.
  var isFull = false
  /// Lanes with an earlier use were not used by this transaction.
  let firstUse: UInt64
  private let id: TableID
  private let image: ColumnImage
  private let moment: ColumnImage.Moment
  private let pageCount: Int
  private let frameLane: Lane<ChunkFrame>
  private var cellLanes: [Lane<ChunkCell>?]

  init(_ image: ColumnImage, _ moment: ColumnImage.Moment, _ table: TableState, pages: Int) {
    (self.image, self.moment, id, pageCount) = (image, moment, table.id, pages)
    firstUse = image.budget.tick()
    frameLane = image.frames(table.id, moment, pages: pages)
    frames = frameLane.view
    cellLanes = [Lane<ChunkCell>?](repeating: nil, count: table.shapes.count)
  }

  var budget: ImageBudget { image.budget }

  /// The cells of a column.
  func cells(_ table: TableState, _ slot: Int) -> LaneView<ChunkCell> { lane(table, slot).view }

  private func lane(_ table: TableState, _ slot: Int) -> Lane<ChunkCell> {
    if let lane = cellLanes[slot] { return lane }
    let lane = image.cells(ColumnID(id, table.shapes[slot].property), moment, pages: pageCount)
    cellLanes[slot] = lane
    return lane
  }

  func fill(_ number: Int64, _ frame: ChunkFrame, _ rows: ChunkRows?) { frameLane.fill(number, frame, rows) }

  func fill(_ number: Int64, _ table: TableState, _ slot: Int, _ cell: ChunkCell, _ memory: CellMemory?) {
    lane(table, slot).fill(number, cell, memory)
  }

  /// Whether more slots may be filled.
  func hasRoom() -> Bool {
    if !isFull, !image.budget.hasRoom(before: firstUse) { isFull = true }
    return !isFull
  }
}
