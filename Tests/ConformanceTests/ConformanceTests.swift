import ConformanceCases
import Foundation
import Testing
import VivariumTestSupport

@Suite struct ConformanceTests {
  /// Beside the checkout; nil where the cases are not at hand.
  private static let folder: String? = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let folder = root.deletingLastPathComponent().appendingPathComponent("shared/conformance").path
    return FileManager.default.fileExists(atPath: folder) ? folder : nil
  }()

  @Test(
    .enabled(if: ConformanceTests.folder != nil, "the recorded cases are not beside the checkout"),
    arguments: ConformanceBackend.allCases, ["eval.json", "syntax.json", "nspredicate.json", "changesets.json"])
  func everyRecordedCasePasses(_ backend: ConformanceBackend, _ file: String) throws {
    let folder = try #require(ConformanceTests.folder)
    let report = try ConformanceRun(backend).report(on: folder + "/" + file)
    print("\(file) on \(backend.rawValue): \(report.passed) passed, \(report.failures.count) failed, \(report.inexpressible.count) listed")
    for failure in report.failures.prefix(40) { Issue.record("\(failure.name): expected \(failure.expectation), got \(failure.outcome)") }
    #expect(report.failures.isEmpty)
    #expect(report.passed > 0)
  }

  private func report(_ text: String) throws -> FileReport {
    let folder = TemporaryDirectory("conformance")
    let file = folder.file("cases.json")
    try Data(text.utf8).write(to: file)
    return try withExtendedLifetime(folder) { try ConformanceRun(.memory).report(on: file.path) }
  }

  private static let suite = """
    [{"name": "n", "source": "", "schema": {"T": {"a": "int", "o": "link:T"}}, "objects": {"T": [{"a": 1}, {"a": 2, "o": {"$link": ["T", 0]}}]},
    "cases": [{"query": "QUERY", "on": "T", "args": [ARGS], "tags": [], EXPECT}]}]
    """

  private func outcome(_ query: String, _ args: String = "", _ expect: String) throws -> (passed: Int, failed: Int) {
    let text = ConformanceTests.suite.replacing("QUERY", with: query).replacing("ARGS", with: args).replacing("EXPECT", with: expect)
    let report = try report(text)
    return (report.passed, report.failures.count)
  }

  @Test func aCasePassesWhenItsRowsAreTheExpectedOnes() throws {
    #expect(try outcome("a > 1", "", "\"expect_ids\": [1], \"expect_count\": 1") == (1, 0))
    #expect(try outcome("a > 1", "", "\"expect_ids\": [0], \"expect_count\": 1") == (0, 1))
    #expect(try outcome("o == $0", "{\"$link\": [\"T\", 0]}", "\"expect_ids\": [1], \"expect_count\": 1") == (1, 0))
    #expect(try outcome("TRUEPREDICATE SORT(a DESC)", "", "\"expect_ids\": [0, 1], \"expect_count\": 2, \"ordered\": true") == (0, 1))
    #expect(try outcome("TRUEPREDICATE SORT(a DESC)", "", "\"expect_ids\": [1, 0], \"expect_count\": 2, \"ordered\": true") == (1, 0))
  }

  @Test func anExpectedErrorMustCome() throws {
    #expect(try outcome("b > 1", "", "\"error\": true, \"error_kind\": \"unknown-property\"") == (1, 0))
    #expect(try outcome("b > 1", "", "\"error\": true, \"error_kind\": \"syntax\"") == (0, 1))
    #expect(try outcome("b > 1", "", "\"error\": true, \"error_kind\": \"a kind that nobody knows\"") == (0, 1))
    #expect(try outcome("a > 1", "", "\"error\": true") == (0, 1))
    #expect(try outcome("a >", "", "\"expect_ids\": [], \"expect_count\": 0") == (0, 1))
  }

  @Test func whatCannotBeExpressedIsAFailureWithItsReason() throws {
    let report = try report("[{\"name\": \"n\", \"schema\": {\"T\": {\"a\": \"quaternion\"}}, \"objects\": {}, \"cases\": [{\"query\": \"a == 1\", \"on\": \"T\"}]}]")
    #expect(report.failures.count == 1)
    #expect(report.failures.first?.outcome.contains("quaternion") == true)
  }

  @Test func aChangeSetThatNoEditsMakeIsListedAndIsNoFailure() throws {
    let set = "{\"deletions\": [], \"insertions\": [], \"modifications\": [], \"moves\": [[3, 1]]}"
    let listed = try self.report("{\"merge\": [], \"incremental\": [{\"op\": \"erase\", \"args\": [1], \"before\": \(set), \"expect\": \(set)}]}")
    #expect(listed.inexpressible.count == 1 && listed.failures.isEmpty && listed.passed == 0)
    let plain = set.replacing("[[3, 1]]", with: "[]")
    let wrong = try self.report("{\"merge\": [], \"incremental\": [{\"op\": \"erase\", \"args\": [-1], \"before\": \(plain), \"expect\": \(plain)}]}")
    #expect(wrong.inexpressible.isEmpty && wrong.failures.count == 1)
  }

  @Test(arguments: ["", "[", "{\"a\": }", "[1]", "{\"a\": 1}", "\"x", "[1] 2", String(repeating: "[", count: 5_000)])
  func aFileOfAnotherFormIsRefused(_ text: String) {
    #expect(throws: CaseFileError.self) { try report(text) }
  }

  @Test func aMissingFileIsRefused() {
    #expect(throws: CaseFileError.self) { try ConformanceRun(.memory).report(on: "/nowhere/cases.json") }
  }
}
