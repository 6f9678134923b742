import StoreInspection
import Testing

@Suite struct TextTableTests {
  private func table(_ titles: [String], _ alignments: [TextTable.Alignment] = [], _ rows: [[String]]) throws -> [String] {
    let output = StringOutput()
    let table = TextTable(titles, alignments, widthMax: 10, output: output)
    for row in rows { try table.add(row) }
    try table.finish()
    return output.text.split(separator: "\n").map(String.init)
  }

  @Test func numbersAreAlignedAtTheirEnd() throws {
    #expect(
      try table(["name", "n"], [.leading, .trailing], [["a", "1"], ["bcdef", "1000"]]) == [
        "name      n", "-----  ----", "a         1", "bcdef  1000",
      ])
  }

  @Test func wideCharactersTakeTwoColumns() throws {
    #expect(try table(["k", "v"], [], [["東京", "x"], ["e\u{301}", "y"], ["🐕", "z"]]) == ["k     v", "----  -", "東京  x", "e\u{301}     y", "🐕    z"])
  }

  @Test func aLongValueIsCut() throws {
    #expect(try table(["v"], [], [["abcdefghijk"], ["abcdefghij"], ["東京東京東京"]]).suffix(3) == ["abcdefghi…", "abcdefghij", "東京東京…"])
  }

  @Test func nothingInAValueCanMoveTheCursor() throws {
    #expect(
      try table(["v"], [], [["\u{1B}[2J"], ["a\nb"], ["\u{202E}x"], ["\u{85}"], ["\u{2028}"]]).suffix(5) == [
        "\\u{1B}[2J", "a\\nb", "\\u{202E}x", "\\u{85}", "\\u{2028}",
      ])
  }

  @Test func aLongTableIsPrintedAsItComes() throws {
    let output = StringOutput()
    let table = TextTable(["n"], output: output)
    for row in 0..<100_000 { try table.add([String(row)]) }
    #expect(output.text.count > 400_000)
    try table.finish()
    #expect(output.text.hasSuffix("\n99999\n"))
  }
}
