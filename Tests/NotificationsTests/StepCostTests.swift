import StorageInterface
import StoreValues
import Testing

@testable import Notifications

/// What a step over commits is said to cost.
@Suite struct StepCostTests {
  private func record(_ body: (inout TableChange) -> Void) -> CommitRecord {
    var change = TableChange(table: TableID(1))
    body(&change)
    return CommitRecord(tables: [change])
  }

  private func edits(_ edits: [ListChange.Edit]) -> CommitRecord {
    record {
      $0.modified = [ModifiedObject(key: ObjectKey(1), properties: PropertySet([PropertyID(2)]))]
      $0.lists = [ListChange(owner: ObjectKey(1), property: PropertyID(2), edits: edits)]
    }
  }

  @Test func objectsCountOnceEachAndACommitCountsToo() {
    let objects = record {
      $0.inserted = KeyRuns(1..<4)
      $0.deleted = KeyRuns([9])
      $0.modified = [ModifiedObject(key: ObjectKey(5), properties: PropertySet([PropertyID(1), PropertyID(2)]))]
    }
    #expect([objects].costOfStep(upTo: 32) == 5)
    #expect([objects, CommitRecord(), CommitRecord()].costOfStep(upTo: 32) == 7)
  }

  @Test func listsCountByTheirEditsAndThoseByTheirElements() {
    #expect([edits([.insert(at: 0, count: 1)])].costOfStep(upTo: 32) == 2)
    #expect([edits([.set(at: 0), .move(from: 0, to: 1), .clear])].costOfStep(upTo: 32) == 4)
    #expect([edits([.insert(at: 0, count: 20), .remove(0..<10)])].costOfStep(upTo: 32) == 31)
    #expect([edits([.insert(at: 0, count: 100_000)])].costOfStep(upTo: 32) > 32)
    #expect([edits(Array(repeating: .set(at: 0), count: 100_000))].costOfStep(upTo: 32) == 33)
  }

  @Test func setsAndMapsCountByTheirMembers() {
    let members = (0..<40).map { MemberChange(.int(Int64($0)), .inserted) }
    let change = RecordedCollectionChange(owner: ObjectKey(1), property: PropertyID(2), members: members)
    #expect([record { $0.collections = [change] }].costOfStep(upTo: 32) > 32)
  }

  @Test func nothingIsCountedFarPastTheLimit() {
    let many = Array(repeating: edits([.set(at: 0)]), count: 1_000)
    #expect(many.costOfStep(upTo: 32) <= 34)
    // Whatever a damaged record names.
    #expect([edits(Array(repeating: .insert(at: 0, count: .max), count: 10))].costOfStep(upTo: 32) <= 34)
  }
}
