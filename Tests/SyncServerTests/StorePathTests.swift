import SyncServer
import Testing

@Suite struct StorePathTests {
  @Test(arguments: ["/shared/shop", "/a", "/A.b_c-9/x/1/2/3/4/5/6", "/..a", "/__server/handlers"])
  func `a path is what it is written as`(text: String) {
    #expect(StorePath(text)?.text == text)
  }

  @Test(arguments: ["", "/", "a", "//a", "/a/", "/a//b", "/.", "/..", "/a/../b", "/a b", "/ä", "/a\n", "/a%2F", "/1/2/3/4/5/6/7/8/9"])
  func `what could be read in two ways is no path`(text: String) { #expect(StorePath(text) == nil) }

  @Test func `parts are no longer than 64`() {
    #expect(StorePath("/" + String(repeating: "a", count: 64)) != nil)
    #expect(StorePath("/" + String(repeating: "a", count: 65)) == nil)
  }

  @Test func `a user's name is one part`() {
    #expect(StorePath.isPart("ann"))
    for name in ["", "ann/x", "/ann", "..", "a b"] { #expect(!StorePath.isPart(name)) }
  }
}
