#include "core/dataset/import.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>

#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using fixtures::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A file and what its reader makes of it: "child<parent" of each edge and the names of roots that
/// have no child, with blanks between, or after "error: " a part of the message.
struct ImportCase {
  const char* name;
  const char* kind;
  std::string text;
  std::string expected;
  KeyTexts keys = {};
  const char* remark = "";  ///< A part of one of the remarks; empty: there is none.
};

/// So that a failed test prints the case's name alone.
void PrintTo(const ImportCase& one, std::ostream* out) { *out << one.name; }

std::string raw_text(std::string_view text) { return std::string(text); }
using namespace std::string_view_literals;

const std::vector<ImportCase>& import_cases() {
  static const std::vector<ImportCase> cases = {
      {"plain", "edges", "dog,canine\ncat,feline\ncanine,carnivore\nfeline,carnivore\n",
       "dog<canine canine<carnivore cat<feline feline<carnivore"},
      {"tabs", "edges", "gray wolf\tcanine, wild\ndog\tcanine\n",
       "gray wolf<canine, wild dog<canine"},
      {"tab_in_a_later_row", "edges", "a,b\nb,c\nx,y\tcomment\n", "a<b b<c x<y\tcomment"},
      {"tab_in_quotes", "edges", "child,parent\n\"a\tb\",r\n", "a\tb<r", {}, "taken as a header"},
      {"no_last_end_of_line", "edges", "a,b\nb,c", "a<b b<c"},
      {"crlf_and_mark", "edges",
       "\xEF\xBB\xBF"
       "a,b\r\nb,c\r\n",
       "a<b b<c"},
      {"cr_alone", "edges", "a,b\rb,c\r", "a<b b<c"},
      {"blanks", "edges", "\n a , b \n\n  \nb,  c\n", "a<b b<c"},
      {"several_parents", "edges", "d,b\nd,c\nb,a\nc,a\n", "d<b d<c b<a c<a"},
      {"several_roots", "edges", "a,r\nb,s\nt,\n", "a<r b<s t"},
      {"root_without_separator", "edges", "r\na\tr\n", "a<r"},
      {"twice", "edges", "a,b\na,b\na,b\n", "a<b", {}, "2 rows repeat an edge"},
      {"numbers", "edges", "1,0\n2,0\n3,1\n", "1<0 2<0 3<1"},
      {"header_of_words", "edges", "Child,Parent\na,b\n", "a<b", {}, "'Child, Parent' is taken"},
      {"header_of_numbers", "edges", "lower,upper\n1,0\n", "1<0", {}, "taken as a header"},
      {"header_kept", "edges", "lower,upper\n1,0\n", "lower<upper 1<0", {{"header", "no"}}},
      {"header_dropped", "edges", "lower,upper\na,b\n", "a<b", {{"header", "yes"}}},
      {"header_unknown",
       "edges",
       "foo,bar\na,b\nc,b\nd,a\n",
       "foo<bar a<b c<b d<a",
       {},
       "stand in the first row alone"},
      {"header_alone", "edges", "child,parent\n", "error: holds no node"},
      {"other_order", "edges", "b,a\nc,b\n", "a<b b<c", {{"order", "parent,child"}}},
      {"order_contradicts", "edges", "parent,child\nb,a\n", "error: give -p order=parent,child"},
      {"order_of_the_header",
       "edges",
       "parent,child\nb,a\n",
       "a<b",
       {{"order", "parent,child"}},
       "taken as a header"},
      {"further_columns", "edges", "a,b,0.5,x\nb,c,1,y\n", "a<b b<c"},
      {"quotes", "edges", "\"a, \"\"b\"\"\",\"c\nd\"\n\"c\nd\",e\n", "a, \"b\"<c\nd c\nd<e"},
      {"open_quote", "edges", "a,b\n\"c,d\n", "error: byte 5: this quote is not closed"},
      {"text_after_quote", "edges", "a,b\n\n\"c\"d,e\n", "error: :3: text follows"},
      {"comments_before", "edges", "# a list, of edges\n#\na,b\n#c,b\n", "a<b #c<b"},
      {"blank_separators", "edges", "a b\nb c\n", "error: no row has two columns"},
      {"no_child", "edges", "a,b\n,c\n", "error: :2: no child stands beside the parent 'c'"},
      {"empty", "edges", "", "error: empty"},
      {"blank", "edges", "\n \n", "error: holds no row"},
      {"nul", "edges", raw_text("a,b\n\0,c\n"sv), "error: is no text: byte 5 is 0"},
      {"utf16", "edges",
       "\xFF\xFE"
       "a,b",
       "error: UTF-16"},
      {"utf8", "edges", "Hündin,Hund\n狗,Hund\n", "Hündin<Hund 狗<Hund"},
      {"latin1", "edges", "a,b\xFC\n", "a<b\\xfc", {}, "1 names are not in UTF-8"},
      {"cycle", "edges", "x,a\na,b\nb,c\nc,a\n",
       "error: a cycle of 3 nodes: 'a' -> 'b' -> 'c' -> 'a'"},
      {"own_parent", "edges", "a,b\nb,b\n", "error: a cycle of 1 node: 'b' -> 'b'"},
      {"follows", "edges", "c,b\nb,a\nc,a\n", "c<b c<a b<a"},
      {"reduced",
       "edges",
       "c,b\nb,a\nc,a\n",
       "c<b b<a",
       {{"reduce", "yes"}},
       "1 edges that follow"},
      {"tree", "newick", "((cat,lynx)feline,(dog,wolf)canine)carnivore;",
       "feline<carnivore cat<feline lynx<feline canine<carnivore dog<canine wolf<canine"},
      {"lengths_and_comments", "newick", "[&R] ( a:0.1 , b : -2e-3[x]) r:1 ;\n", "a<r b<r"},
      {"quoted_labels", "newick", "('it''s (a)',b_c)'r;';", "it's (a)<r; b_c<r;"},
      {"no_labels", "newick", "((,),);", "#1<#0 #2<#1 #3<#1 #4<#0"},
      {"equal_labels", "newick", "((a,a)a)a;", "a<a a<a a<a"},
      {"forest", "newick", "(a)r;\n(b)s; t;", "a<r b<s t"},
      {"not_closed", "newick", "((a,b)",
       "error: byte 7: expected a tree that ends with ';' (found 'the end')"},
      {"no_semicolon", "newick", "(a,b)r", "error: byte 7: expected a tree that ends with ';'"},
      {"too_many_closed", "newick", "(a,b));",
       "error: byte 6: expected a tree, or ';' after one (found ')')"},
      {"blank_in_label", "newick", "(gray wolf,b);",
       "error: byte 7: expected ',' or ')' (found 'w')"},
      {"length_is_no_number", "newick", "(a:x,b);", "error: byte 5: expected the length"},
      {"open_comment", "newick", "(a,b[c;", "error: ']' after a comment"},
      {"open_label", "newick", "(a,'b;", "error: byte 4: this quote is not closed"},
      {"nothing", "newick", "[no tree]", "error: holds no node"},
      {"terms", "obo",
       "format-version: 1.2\n[Term]\nid: A:1\nname: one\n\n[Term]\nid: A:2\nname: two {q=\"x\"} ! "
       "no\n"
       "is_a: A:1 ! one\nrelationship: part_of A:3\n[Term]\nid: A:3\nname: three \\! one\r\n"
       "[Typedef]\nid: part_of\nname: part\n",
       "two<one three ! one"},
      {"relations",
       "obo",
       "[Term]\nid: A:1\n[Term]\nid: A:2\nis_a: A:1\n[Term]\nid: A:3\nrelationship: part_of A:2\n"
       "relationship: regulates A:1\n",
       "A:2<A:1 A:3<A:2",
       {{"relations", "part_of, has_part"}},
       "no term has the relation has_part"},
      {"obsolete",
       "obo",
       "[Term]\nid: A:1\n[Term]\nid: A:2\nis_a: A:1\nis_obsolete: true\n[Term]\nid: A:3\nis_a: "
       "A:1\n"
       "is_a: A:2\n",
       "A:3<A:1",
       {},
       "1 relations lead to terms that are obsolete or not in the file"},
      {"unknown_parent", "obo", "[Term]\nid: A:1\nis_a: B:7\n", "A:1", {}, "A:1 to B:7"},
      {"split_stanza", "obo",
       "[Term]\nid: A:1\n[Term]\nid: A:2\nis_a: A:1\n[Term]\nid: A:2\nname: x\n", "x<A:1"},
      {"no_id", "obo", "[Term]\nname: x\n", "error: :1: a term without id"},
      {"no_tag", "obo", "[Term]\nid: A\nwhat\n", "error: :3: expected 'tag: value' (found 'what')"},
      {"no_term", "obo", "a,b\n", "error: holds no term"},
      {"obo_cycle", "obo", "[Term]\nid: A\nis_a: B\n[Term]\nid: B\nis_a: A\n",
       "error: a cycle of 2 nodes: 'A' -> 'B' -> 'A'"},
      {"nested", "json",
       R"({"children": [{"name": "b"}, {"name": 7, "children": [{"name": 1.50}]}], "name": "a"})",
       "b<a 7<a 1.50<7"},
      {"roots", "json", R"([{"name": "a", "children": null}, {"name": "b", "children": []}])",
       "a b"},
      {"other_members", "json",
       R"({"name": "a", "data": {"name": "x", "children": [{"name": "y"}]}, "size": [1, {}],
           "children": [{"name": "b", "list": [[{"children": 3}]]}]})",
       "b<a"},
      {"names_missing", "json", R"({"children": [{}, {"name": "#0"}]})", "#1<#0 #0<#0"},
      {"other_members_alone", "json", R"({"a": {"b": {}}})", "error: other members alone"},
      {"misspelt", "json", R"([{"id": "a", "childs": [{"name": "b"}]}])", "error: after 1 nodes"},
      {"no_object", "json", R"({"name": "a", "children": ["b"]})",
       "error: after 1 nodes: expected"},
      {"no_list", "json", R"({"name": "a", "children": "b"})", "error: (found b)"},
      {"children_object", "json", R"({"name": "a", "children": {"name": "b"}})",
       "error: another value in 'children'"},
      {"malformed", "json", R"({"name": "a", )", "error: malformed JSON (byte 15"},
      {"more_than_one", "json", R"({"name": "a"} {"name": "b"})", "error: malformed JSON"},
      {"nul_in_name", "json", R"({"name": "a\u0000b"})", "a\\x00b"},
      {"deep", "json",
       [] {
         std::string text;
         for (int i = 0; i < 20000; ++i) text += R"({"children": [)";
         for (int i = 0; i < 20000; ++i) text += "]}";
         return text;
       }(),
       "error: depth 19999"},
  };
  return cases;
}

/// Returns edges and lone nodes as ImportCase has them; for many nodes, the largest depth.
std::string edges_text(const Hierarchy& made) {
  if (made.size() > 1000) {
    return fmt::format("error: depth {}", *std::ranges::max_element(made.depths));
  }
  std::vector<std::string> words;
  std::vector<bool> has_edge(made.names.size());
  for (const auto& [child, parent] : made.edges) {
    const auto c = static_cast<std::size_t>(child), p = static_cast<std::size_t>(parent);
    words.push_back(made.names[c] + "<" + made.names[p]);
    has_edge[c] = has_edge[p] = true;
  }
  for (std::size_t i = 0; i < has_edge.size(); ++i) {
    if (!has_edge[i]) words.push_back(made.names[i]);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

class Import : public fixtures::FilesTest, public ::testing::WithParamInterface<ImportCase> {};

TEST_P(Import, MakesWhatTheFileSays) {
  const ImportCase& one = GetParam();
  KeyTexts keys = one.keys;
  keys["path"] = path("file");
  fixtures::spill(path("file"), one.text);
  MadeData made;
  const std::string error = message_of([&] { made = make_dataset(one.kind, keys); });
  const bool expects_error = one.expected.starts_with("error: ") && one.name != std::string("deep");
  if (expects_error) {
    EXPECT_THAT(error, HasSubstr(one.expected.substr(7)));
    EXPECT_THAT(error, ::testing::StartsWith(path("file")));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    return;
  }
  ASSERT_EQ(error, "");
  EXPECT_EQ(edges_text(*made.hierarchy), one.expected);
  if (*one.remark == 0) {
    EXPECT_THAT(made.remarks, IsEmpty());
  } else {
    EXPECT_THAT(made.remarks, ElementsAre(HasSubstr(one.remark)));
  }
}

INSTANTIATE_TEST_SUITE_P(, Import, ::testing::ValuesIn(import_cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class ImportFiles : public fixtures::FilesTest {};

TEST_F(ImportFiles, TermsKeepTheirIdentifiers) {
  fixtures::spill(path("a.obo"),
                  "[Term]\nid: A:2\nname: two\nis_a: A:1\n[Term]\nid: A:1\nname: one\n");
  const Hierarchy made = *make_dataset("obo", {{"path", path("a.obo")}}).hierarchy;
  EXPECT_THAT(made.ids, ElementsAre("A:2", "A:1"));
  const Hierarchy read = hierarchy_of_group(hierarchy_group(made), "f");
  EXPECT_EQ(read.ids, made.ids);
  EXPECT_EQ(read.names, made.names);
}

TEST_F(ImportFiles, FoldersDoNotFollowLinks) {
  std::filesystem::create_directories(path("top/a/b"));
  fixtures::spill(path("top/a/file"), "x");
  std::filesystem::create_directory_symlink("..", path("top/a/b/up"));
  std::filesystem::create_symlink("nowhere", path("top/lost"));
  std::filesystem::create_directory_symlink(path("top"), path("link"));
  for (const char* name : {"top", "link"}) {
    EXPECT_EQ(edges_text(*make_dataset("folder", {{"path", path(name)}}).hierarchy),
              "a<top lost<top b<a file<a up<b");
  }
  EXPECT_THAT(message_of([&] {
                (void)make_dataset("folder", {{"path", path("top/a/file")}});
              }),
              HasSubstr("is no folder"));
  EXPECT_THAT(message_of([&] {
                (void)make_dataset("folder", {{"path", path("none")}});
              }),
              HasSubstr("No such file"));
}

TEST_F(ImportFiles, SamplesKeepAllAncestors) {
  std::string text;
  for (int i = 1; i < 3000; ++i) text += fmt::format("{},{}\n", i, (i - 1) / 3);
  fixtures::spill(path("t.csv"), text);
  const KeyTexts whole = {{"path", path("t.csv")}};
  KeyTexts keys = whole;
  keys["sample"] = "200";
  const MadeData made = make_dataset("edges", keys);
  const Hierarchy& part = *made.hierarchy;
  EXPECT_EQ(made.source_nodes, 3000);
  EXPECT_THAT(made.remarks, ElementsAre(HasSubstr("of 3000 nodes are drawn")));
  EXPECT_GE(part.size(), 200);
  EXPECT_LT(part.size(), 208);  // A leaf brings its ancestors, at most seven.
  for (Node node = 0; node < part.size(); ++node) {
    const std::string& name = part.names[static_cast<std::size_t>(node)];
    if (name == "0") continue;
    const auto edge = std::ranges::find(part.edges, node, [](const auto& e) { return e[0]; });
    ASSERT_NE(edge, part.edges.end());
    EXPECT_EQ(part.names[static_cast<std::size_t>((*edge)[1])],
              std::to_string((std::stoi(name) - 1) / 3));
  }
  keys["seed"] = "2";
  EXPECT_NE(make_dataset("edges", keys).hierarchy->names, part.names);
  keys["sample"] = "3000";
  EXPECT_EQ(make_dataset("edges", keys).hierarchy->edges,
            make_dataset("edges", whole).hierarchy->edges);
}

TEST_F(ImportFiles, AreKnownByTheirEndings) {
  std::filesystem::create_directories(path("d.csv"));
  EXPECT_EQ(importer_of("a/b.CSV"), "edges");
  EXPECT_EQ(importer_of("go.obo"), "obo");
  EXPECT_EQ(importer_of("t.nwk"), "newick");
  EXPECT_EQ(importer_of("t.h5"), "hierarchy");
  EXPECT_EQ(importer_of(path("d.csv")), "folder");
  EXPECT_THAT(message_of([] { (void)importer_of("a.doc"); }), HasSubstr("a.doc: its ending says"));
}

TEST(ImportKeys, ThePathIsNeeded) {
  EXPECT_THAT(message_of([] { (void)make_dataset("edges", {}); }),
              HasSubstr("-p path=... is missing"));
}

}  // namespace
}  // namespace conelab
