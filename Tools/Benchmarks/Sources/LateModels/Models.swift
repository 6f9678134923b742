import Vivarium

@Model final class Leaf {
  var name: String
  var branch: Branch?
}

@Model final class Branch {
  var name: String
  var parent: Branch?
  @Inverse(\Leaf.branch) var leaves: LinkingObjects<Leaf>
  @Inverse(\Branch.parent) var children: LinkingObjects<Branch>
}
