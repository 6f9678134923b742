import StoreValues
import Testing

@testable import QueryModel

@Suite struct TextWordsTests {
  private func words(_ text: String) -> [String] {
    var result: [String] = []
    TextWords.forEach(in: text) { word, _, _ in
      result.append(String(decoding: word, as: UTF8.self))
      return true
    }
    return result
  }

  @Test(arguments: [
    ("", []), (" ,.-!", []), ("Hello, World!", ["hello", "world"]), ("a1b2 3", ["a1b2", "3"]), ("don't", ["don", "t"]),
    ("snake_case", ["snake", "case"]), ("x\0y\nz", ["x", "y", "z"]), ("a/b\\c", ["a", "b", "c"]),
  ] as [(String, [String])])
  func runsOfLettersAndDigitsAreWords(_ text: String, _ expected: [String]) {
    #expect(words(text) == expected)
  }

  @Test func caseAndMarksDoNotCount() {
    #expect(words("Élan CAFÉ Ünï") == ["elan", "cafe", "uni"])
    #expect(words("e\u{301}lan e\u{301}\u{323}") == ["elan", "e"])
    #expect(words("ΣΑΣ σας Straße İ") == ["σασ", "σασ", "straße", "i"])
    #expect(words("Привет ЙОД йод") == ["привет", "иод", "иод"])
    #expect(words("שָׁלוֹם مَرْحَبًا") == words("שלום مرحبا"))
  }

  @Test func whatIsNotSeenPartsNothingAndEmojiPart() {
    #expect(words("soft\u{AD}hyphen می\u{200C}خواهم") == ["softhyphen", "میخواهم"])
    #expect(words("a\u{200B}b") == ["a", "b"])
    #expect(words("a😀b 👨‍👩‍👧 🇧🇪 1️⃣") == ["a", "b", "1"])
  }

  @Test func signsWithoutSpacesArePairsAndTheLastOfThem() {
    #expect(words("日") == ["日"])
    #expect(words("日本語") == ["日本", "本語", "語"])
    #expect(words("東京都とiPhone手机") == ["東京", "京都", "都と", "と", "iphone", "手机", "机"])
    #expect(words("ひらカタ、ー々") == ["ひら", "らカ", "カタ", "タ", "ー々", "々"])
    #expect(words("한국어 말") == ["한국", "국어", "어", "말"])
    #expect(words("2024年5月") == ["2024", "年", "5", "月"])
    #expect(words("𠀀𠀁") == ["𠀀𠀁", "𠀁"])
  }

  @Test func syllablesInPartsAreSyllables() {
    #expect(words("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}") == words("한국"))
    #expect(words("\u{D558}\u{11AB}") == words("한"))
    #expect(words("\u{1161}\u{1112}").count == 2)
  }

  @Test func everyWordSaysWhereItStands() {
    for text in ["Élan, don't", "東京 e\u{301}a", "a\u{AD}b c", "\u{1112}\u{1161}국 x"] {
      let bytes = Array(text.utf8)
      TextWords.forEach(in: text) { word, _, source in
        let piece = String(decoding: bytes[source], as: UTF8.self)
        #expect(words(piece).first == String(decoding: word, as: UTF8.self), "\(text)")
        return true
      }
    }
  }

  @Test func ofALongWordTheBeginningCounts() {
    let long = String(repeating: "x", count: 100_000)
    #expect(words(long) == [String(repeating: "x", count: TextWords.lettersMax)])
    #expect(words("é" + long) == ["e" + String(repeating: "x", count: TextWords.lettersMax - 1)])
  }

  @Test func itStopsWhenToldTo() {
    for text in ["a b c d", "a é c d", "日本語 日本語"] {
      var count = 0
      TextWords.forEach(in: text) { _, _, _ in
        count += 1
        return count < 2
      }
      #expect(count == 2, "\(text)")
    }
  }

  @Test func bytesThatAreNoTextPartWords() {
    var count = 0
    let bytes: [UInt8] = [0x61, 0xFF, 0xC0, 0x62, 0xE6, 0x97]
    bytes.withUnsafeBytes {
      TextWords.forEach(in: $0) { _, _, _ in
        count += 1
        return true
      }
    }
    #expect(count == 2)
  }

  /// Each word once, and none more for a text of a megabyte: linear in words, whatever it is made of.
  @Test(arguments: ["hello brave world, ", "Élan ďábel čas же 日本 ", "e\u{301}\u{323}\u{301} ", "\u{1112}\u{1161}\u{11AB}", "\u{301}\u{323}", "x"])
  func aMegabyteHasAsManyWordsAsItsParts(_ part: String) {
    let times = (1 << 20) / part.utf8.count
    let (one, two, all) = (words(part).count, words(part + part).count, words(String(repeating: part, count: times)).count)
    #expect(all == one + (two - one) * (times - 1))
  }
}
