import SyncModel
import SyncProtocol
import Testing

@testable import SyncServer

@Suite("What goes up")
struct UploadLineTests {
  private func upload(_ number: UInt64, isContinued: Bool = false) -> Upload {
    .changeset(continued(changeset(1, number), isContinued))
  }

  private func numbers(_ batch: UploadLine.Batch?) -> [UInt64] {
    if case .commit(let uploads, _, _)? = batch { uploads.map(\.clientSeq) } else { [] }
  }

  @Test("costs each changeset once, however long a transaction is that is not whole")
  func linear() {
    var work: [Int] = []
    for count in [1_000, 4_000] {
      var line = UploadLine()
      for number in 1...UInt64(count) {
        line.append(upload(number, isContinued: true), refusalSeen: .zero, bytes: 6)
        #expect(line.next() == nil)
        line.append(mark: number)
        if case .mark? = line.next() {} else { Issue.record("the mark waits for the transaction") }
      }
      line.append(upload(UInt64(count) + 1), refusalSeen: .zero, bytes: 6)
      #expect(numbers(line.next()).count == count + 1 && line.bytes == 0)
      work.append(line.work)
    }
    #expect(work[1] < work[0] * 5 && work[0] < 10 * 1_000)
  }

  @Test("is dealt with in its order: what was said in one breath together, and whole transactions only")
  func order() {
    var line = UploadLine()
    line.append(upload(1), refusalSeen: .zero, bytes: 10)
    line.append(upload(2, isContinued: true), refusalSeen: .zero, bytes: 10)
    line.append(mark: 7)
    #expect(numbers(line.next()) == [1])
    if case .mark(7)? = line.next() {} else { Issue.record("no mark") }
    #expect(line.next() == nil && line.isOpen)
    line.append(upload(3), refusalSeen: .zero, bytes: 10)
    line.append(Acknowledgement(cursor: Seq(1), pendingBase: .zero, refusalSeen: .zero))
    line.append(upload(4), refusalSeen: Seq(1), bytes: 10)
    #expect(numbers(line.next()) == [2, 3])
    if case .acknowledge(let state)? = line.next() { #expect(state.cursor == Seq(1)) } else { Issue.record("nothing was acknowledged") }
    #expect(numbers(line.next()) == [4])
    #expect(line.next() == nil)
  }

  @Test("counts what it takes in memory, and keeps one acknowledgement of many")
  func bounds() {
    var line = UploadLine()
    for number in 1...100 as ClosedRange<UInt64> { line.append(upload(number), refusalSeen: .zero, bytes: 1) }
    #expect(line.bytes == 100 * UploadLine.leastBytes)
    for cursor in 1...1_000 as ClosedRange<UInt64> {
      line.append(Acknowledgement(cursor: Seq(cursor), pendingBase: .zero, refusalSeen: .zero))
    }
    #expect(numbers(line.next()).count == 100)
    if case .acknowledge(let state)? = line.next() { #expect(state.cursor == Seq(1_000)) } else { Issue.record("nothing was acknowledged") }
    #expect(line.next() == nil)
  }
}

/// The same as a part of a longer transaction, or its end.
func continued(_ changeset: Changeset, _ isContinued: Bool = true) -> Changeset {
  Changeset(
    clientSeq: changeset.clientSeq, baseSeq: changeset.baseSeq, isContinued: isContinued, first: changeset.first,
    operations: changeset.operations)
}
