import StoreOperations
import Testing
import Vivarium

/// What a composition is, the compiler decides: every line with a type says what it must have decided.
@Suite struct AccessTests {
  private let read = StoreRO { $0.objects(Dog.self).count }
  private let write = StoreRW { store in
    let dog = Dog(name: "Rex")
    try store.add(dog)
    return dog
  }

  @Test func readingThenReadingReads() {
    let both = read.flatMap { _ in read }
    let typed: StoreRO<Int> = both
    #expect(typed.isReadOnly && !typed.isReadWrite)
  }

  @Test func anythingWithWritingWrites() {
    let first = read.flatMap { _ in write }
    let second = write.flatMap { _ in read }
    let third = write.flatMap { _ in write }
    let typed: (StoreRW<Dog>, StoreRW<Int>, StoreRW<Dog>) = (first, second, third)
    #expect(typed.0.isReadWrite && typed.1.isReadWrite && typed.2.isReadWrite)
  }

  @Test func anAnyOperationKnowsItsAccessAtRunTime() {
    let anyRead = AnyStoreIO(read)
    let anyWrite = AnyStoreIO(write)
    #expect(anyRead.isReadOnly && anyWrite.isReadWrite)
    let withReading: AnyStoreIO<Int> = anyRead.flatMap { _ in read }
    let withWriting: StoreRW<Dog> = anyRead.flatMap { _ in write }
    let writingWithReading: AnyStoreIO<Int> = anyWrite.flatMap { _ in read }
    let readingWithAny: AnyStoreIO<Dog> = read.flatMap { _ in anyWrite }
    let writingWithAny: StoreRW<Int> = write.flatMap { _ in anyRead }
    #expect(withReading.isReadOnly && withWriting.isReadWrite && writingWithReading.isReadWrite)
    // What comes second is not known before the first has run.
    #expect(readingWithAny.isReadWrite && writingWithAny.isReadWrite)
  }

  @Test func zipReadsWhereAllOfItReads() {
    let reading: StoreRO<(Int, Int, Int)> = Store.IO.zip(read, read, read)
    let mixed: StoreRW<(Int, Dog)> = Store.IO.zip(read, write)
    let pair: StoreRW<(Dog, Int)> = write.zip(read)
    let readPair: StoreRO<(Int, Int)> = read.zip(read)
    #expect(reading.isReadOnly && mixed.isReadWrite && pair.isReadWrite && readPair.isReadOnly)
  }

  @Test func sequencesHaveTheAccessOfTheirParts() {
    let reads: StoreRO<[Int]> = Store.IO.sequence([read, read])
    let writes: StoreRW<[Dog]> = Store.IO.traverse(["a", "b"]) { name in Store.IO.add(Dog(name: name)) }
    #expect(reads.isReadOnly && writes.isReadWrite)
    #expect(Store.IO.sequence([AnyStoreIO(read), AnyStoreIO(read)]).isReadOnly)
    #expect(Store.IO.sequence([AnyStoreIO(read), AnyStoreIO(write.map { _ in 1 })]).isReadWrite)
  }

  @Test func modifyAndWriteIOTurnReadingIntoWriting() {
    let modified: StoreRW<Dog?> = Store.IO.object(ofType: Dog.self, forPrimaryKey: "Rex").modify { $0?.age += 1 }
    let forced: StoreRW<Int> = read.writeIO
    #expect(modified.isReadWrite && forced.isReadWrite)
  }
}
