import StorageSQLite
import Testing

@Suite struct NameSpaceTests {
  @Test func namesAreKeptWhereSQLiteCanHoldThem() {
    var names = NameSpace.file
    #expect(names.name("Person", number: 1) == "Person")
    #expect(names.name("Größe \"x\"", number: 2) == "Größe \"x\"")
  }

  @Test func namesThatDifferInCaseAloneGetTheirNumber() {
    var names = NameSpace.file
    #expect(names.name("Task", number: 1) == "Task")
    #expect(names.name("task", number: 2) == "task_2")
    #expect(names.name("TASK_2", number: 3) == "TASK_2_3")
    #expect(names.name("TÄSK", number: 4) != names.name("täsk", number: 5))
  }

  @Test func namesOfSQLiteAndOfOursAreMovedOutOfTheWay() {
    var names = NameSpace.file
    #expect(names.name("sqlite_master", number: 1) == "type sqlite_master")
    #expect(names.name("_Vivarium_history", number: 2) == "type _Vivarium_history")
    var columns = NameSpace.columns
    #expect(columns.name("_key", number: 3) == "_key_3")
    #expect(columns.name("_KEY", number: 4) == "_KEY_4")
  }

  @Test func aNameWithNulIsNotCutShort() {
    var names = NameSpace.file
    #expect(names.name("a\0b", number: 1) == "a\u{2400}b")
    #expect(names.name("a\u{2400}b", number: 2) == "a\u{2400}b_2")
  }
}
