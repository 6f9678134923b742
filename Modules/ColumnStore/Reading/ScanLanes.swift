import StorageInterface

/// What reads of many rows find in the chunks of a snapshot, side by side: one place a chunk, so that whoever comes again goes
/// through memory in order and touches no object on the way.
///
/// Filled as chunks are visited, and as long-lived as the table's state: a snapshot's chunks stay as they are. 32 bytes a chunk
/// and 64 for each column that was read so.
final class ScanLanes {
  /// The rows of one chunk.
  struct Frame {
    var firstKey: Int64 = 0
    /// 0: no row lives. -1: the chunk was not visited yet.
    var count = -1
    /// nil: every row lives.
    var live: UnsafePointer<UInt64>?
    /// nil: row i has the key `firstKey + i`.
    var keys: UnsafePointer<Int64>?
  }

  typealias Lane = UnsafeMutablePointer<ColumnVector>

  /// Of all chunks but the fresh one, ascending.
  let numbers: [Int64]
  let count: Int
  /// Whether a chunk's number is its place.
  private let isDense: Bool
  let frames: UnsafeMutablePointer<Frame>
  /// By slot. A vector without rows was not read yet.
  private var lanes: [Lane?]

  init(_ numbers: [Int64], slots: Int) {
    self.numbers = numbers
    count = numbers.count
    isDense = numbers.last ?? -1 == Int64(numbers.count) - 1
    frames = .allocate(capacity: max(count, 1))
    frames.initialize(repeating: Frame(), count: count)
    lanes = [Lane?](repeating: nil, count: slots)
  }

  deinit {
    frames.deallocate()
    for lane in lanes { lane?.deallocate() }
  }

  /// The place of a chunk by its number, which is 0 or more; nil where there is no such chunk.
  @inline(__always) func place(of number: Int64) -> Int? {
    if isDense { return number < Int64(count) ? Int(number) : nil }
    let place = numbers.partitionPoint { $0 < number }
    return place < count && numbers[place] == number ? place : nil
  }

  /// The vectors of a column, as many as there are chunks.
  func lane(_ slot: Int) -> Lane {
    if let lane = lanes[slot] { return lane }
    let made = Lane.allocate(capacity: max(count, 1))
    made.initialize(
      repeating: ColumnVector(layout: .constantWord, count: 0, values: UnsafeRawPointer(Bits.allSet)), count: count)
    lanes[slot] = made
    return made
  }

  /// Notes what a chunk is; nil: there is none.
  func visit(_ i: Int, _ chunk: Chunk?) {
    frames[i].count = 0
    guard let chunk, chunk.liveCount > 0 else { return }
    frames[i] = Frame(
      firstKey: chunk.firstKey, count: chunk.count, live: chunk.isFull ? nil : UnsafePointer(chunk.live), keys: chunk.keys())
  }
}
