import Testing

@testable import StoreValues

@Suite struct ErrorTextTests {
  @Test func aTextWithinTheLimitIsLeftAlone() {
    for text in ["", "a", String(repeating: "é", count: ErrorText.bytesMax / 2)] { #expect(ErrorText.bounded(text) == text) }
  }

  @Test(arguments: ["a", "é", "€", "🐕", "👨‍👩‍👧‍👦"]) func aLongTextKeepsItsBeginningAndItsEnd(_ character: String) {
    for offset in 0..<5 {
      let text = String(repeating: "-", count: offset) + String(repeating: character, count: 40_000) + "end."
      let bounded = ErrorText.bounded(text)
      #expect(bounded.utf8.count < ErrorText.bytesMax)
      #expect(bounded.hasPrefix(String(repeating: "-", count: offset)) && bounded.hasSuffix("end."))
      // Cut between scalars: nothing was replaced.
      #expect(!bounded.unicodeScalars.contains("\u{FFFD}"))
      #expect(text.unicodeScalars.starts(with: bounded.unicodeScalars.prefix(1_000)))
    }
  }
}
