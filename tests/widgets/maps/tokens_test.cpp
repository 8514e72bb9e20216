// Tokens of the maps: special ones, pieces of words, the search, and ranges of arcs and trees.
#include <gtest/gtest.h>

#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScreen>
#include <QSpinBox>
#include <QTest>
#include <QTimer>
#include <cmath>

#include "core/drawing/text.h"
#include "tests/widgets/maps/given_source.h"
#include "tests/widgets/maps/relation_places.h"
#include "tests/widgets/maps/shown_maps.h"
#include "widgets/maps/map_tokens.h"

namespace conelab::desktop {
namespace {

using Texts = std::vector<std::string>;

MapTokens tokens_of(const Texts& texts, bool merge) {
  const auto count = static_cast<std::int64_t>(texts.size());
  return {map_axis("key", texts, count, merge), map_axis("key", texts, count, merge), true};
}

TEST(MapTokens, SpecialOnesStandForNoText) {
  for (const char* token : {"[CLS]", "[SEP]", "[PAD]", "[MASK]", "[unused3]", "<s>", "</s>",
                            "<pad>", "<bos>", "<eos>", "<|endoftext|>", "<start_of_turn>"}) {
    EXPECT_TRUE(tree::is_special_token(token)) << token;
  }
  for (const char* token : {"[UNK]", "<unk>", "<0x0A>", "[", "[]", "[1]", "[a]", "<", "<>", "s",
                            "▁the", "##ung", "", "<3", "a<s>"}) {
    EXPECT_FALSE(tree::is_special_token(token)) << token;
  }
}

TEST(MapTokens, WordsOfEveryTokenizerAreMerged) {
  EXPECT_EQ(map_axis("key", {"[CLS]", "Steu", "##er", "##ung", ",", "ja"}, 6, true).label,
            (Texts{"[CLS]", "Steuerung", ",", "ja"}));
  EXPECT_EQ(map_axis("key", {"<s>", "▁un", "believ", "able", ".", "▁so"}, 6, true).label,
            (Texts{"<s>", "unbelievable", ".", "so"}));
  EXPECT_EQ(
      map_axis("key", {"un", "believ", "Ġit", "Ġis", "n", "<|endoftext|>", "a"}, 7, true).label,
      (Texts{"unbeliev", "it", "isn", "<|endoftext|>", "a"}));
  const MapAxis axis = map_axis("key", {"[CLS]", "Steu", "##er", "##ung", ",", "ja"}, 6, true);
  EXPECT_EQ(axis.first, (std::vector<std::int64_t>{0, 1, 4, 5, 6}));
  EXPECT_EQ(axis.cell_of(3), 1);
  EXPECT_EQ(axis.cell_of(4), 2);
  EXPECT_EQ(axis.text_of(1), "key 1–3 “Steuerung”");
  EXPECT_EQ(axis.text_of(2), "key 4 “,”");
  EXPECT_EQ(map_axis("feature", {}, 3, true).text_of(2), "feature 2");
  EXPECT_FALSE(map_axis("key", {"a", "b", "c"}, 3, true).merged());
  EXPECT_FALSE(map_axis("key", {}, 3, true).merged());
}

// Words {0}, {1, 2}: by hand.
TEST(MapTokens, AMergedWeightIsTheMeanOverQueriesOfTheSumOverKeys) {
  const float out = masked_cell;
  const MapTokens tokens = tokens_of({"a", "b", "##c"}, true);
  const std::vector<float> weights = {0.5F, 0.2F, 0.3F, 0.1F, 0.6F, 0.3F, 0.4F, out, 0.6F};
  const auto merged = merged_source(std::make_shared<GivenSource>(3, weights), tokens);
  const std::vector<float> expected = {0.5F, 0.5F, 0.25F, 0.75F};
  const std::vector<float> found = cells_of(*merged);
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
    EXPECT_NEAR(merged->exact(static_cast<std::int64_t>(i / 2), static_cast<std::int64_t>(i % 2)),
                expected[i], 1e-6);
  }
  // Logits: the mean over the pairs that are not masked.
  const auto logits = merged_source(std::make_shared<GivenSource>(3, weights, false), tokens);
  EXPECT_NEAR(cells_of(*logits)[3], (0.6 + 0.3 + 0.6) / 3, 1e-6);
  EXPECT_NEAR(cells_of(*logits)[1], 0.25, 1e-6);
  const auto none =
      merged_source(std::make_shared<GivenSource>(3, std::vector<float>(9, masked_cell)), tokens);
  EXPECT_TRUE(is_masked(cells_of(*none)[3]));
}

TEST(MapTokens, ExcludedOnesHaveNoPartInLimitsAndSummaries) {
  const MapTokens tokens = tokens_of({"[CLS]", "a", "b"}, false);
  const std::vector<float> cells = {1, 0, 0, 0.9F, 0.08F, 0.02F, 0.8F, 0.1F, 0.1F};
  MapPyramid pyramid(excluding_source(std::make_shared<GivenSource>(3, cells), tokens));
  pyramid.fill({});
  const MapSummary summary = pyramid.summary();
  EXPECT_FLOAT_EQ(static_cast<float>(summary.limits.high), 0.1F);
  EXPECT_FLOAT_EQ(static_cast<float>(summary.limits.low), 0.02F);
  EXPECT_EQ(summary.excluded, 5);
  EXPECT_EQ(summary.masked, 5);
  EXPECT_EQ(summary.zero, 0);
  EXPECT_NEAR(summary.row_entropy[1], -(0.8 * std::log(0.8) + 0.2 * std::log(0.2)), 1e-5);
  EXPECT_NEAR(summary.row_entropy[2], std::log(2), 1e-5);
  EXPECT_NEAR(summary.column_sum[1], 0.18, 1e-6);
  EXPECT_NEAR(pyramid.source().exact(1, 0), 0.9, 1e-6);  // The readout stays exact.
}

TEST(MapTokens, AreExcludedMarkedAndMergedByTheMenu) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  const double before = shown.panel(0).summary.limits.high;
  shown.choose("maps-tokens-menu", "special tokens excluded");
  shown.settle();
  EXPECT_EQ(shown.maps().special_tokens, "excluded");
  const double after = shown.panel(0).summary.limits.high;
  EXPECT_LT(after, before / 2);  // The largest weights of this head go to [CLS].
  EXPECT_EQ(shown.panel(0).summary.excluded, 30 * 30 - 28 * 28);
  EXPECT_FALSE(shown.view.model().specials(shown.panel(0)).masked);
  shown.choose("maps-tokens-menu", "merge the pieces of words");
  shown.settle();
  MapsModel& model = shown.view.model();
  EXPECT_LT(model.rows(), 30);
  EXPECT_EQ(model.tokens().query.label[2], "ich");
  // Rows of merged weights still sum to one, with the special tokens.
  shown.choose("maps-tokens-menu", "special tokens marked");
  shown.settle();
  EXPECT_EQ(shown.panel(0).summary.excluded, 0);
  const std::vector<float> cells = cells_of(shown.panel(0).pyramid->source());
  for (std::int64_t r = 0; r < model.rows(); ++r) {
    double sum = 0;
    for (std::int64_t c = 0; c < model.columns(); ++c) {
      sum += static_cast<double>(cells[static_cast<std::size_t>(r * model.columns() + c)]);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  // A click on a word is its first token; its pieces are told.
  std::int64_t word = 0;
  while (model.tokens().key.first[static_cast<std::size_t>(word) + 1] -
             model.tokens().key.first[static_cast<std::size_t>(word)] <
         2) {
    ++word;
  }
  click(shown.canvas(), shown.canvas().cell_centre(0, {3, word}));
  ASSERT_TRUE(shown.document.session().locked);
  EXPECT_EQ(shown.document.session().locked->key,
            model.tokens().key.first[static_cast<std::size_t>(word)]);
  const std::string pieces = model.tokens().key.text_of(word);
  EXPECT_TRUE(shown.view.readout().contains(QString::fromStdString(pieces)))
      << shown.view.readout().toStdString();
  shown.view.move(Qt::Key_Right);
  EXPECT_EQ(shown.document.session().locked->key,
            model.tokens().key.first[static_cast<std::size_t>(word) + 1]);
  shown.document.undo();
  shown.document.undo();
  shown.document.undo();
  EXPECT_FALSE(shown.maps().merge_words);
}

TEST(MapTokens, AreFoundByPartOfTheirText) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  for (int i = 0; i < 12; ++i) turn_wheel(shown.canvas(), shown.canvas().cell_centre(0, {0, 0}), 1);
  pump(30);
  auto& field = shown.named<QLineEdit>("maps-search");
  shown.view.find_token();
  EXPECT_TRUE(field.hasFocus());
  press_key(field, 0, Qt::NoModifier, "E");
  auto& count = shown.named<QLabel>("maps-search-count");
  const auto& labels = shown.view.model().tokens().key.label;
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].find_first_of("eE") != std::string::npos)
      expected.push_back(static_cast<std::int64_t>(i));
  }
  ASSERT_GT(expected.size(), 3U);
  EXPECT_EQ(count.text(), QString::number(expected.size()));
  press_key(field, Qt::Key_Return);
  EXPECT_EQ(shown.document.session().locked, (Focus{expected[0], expected[0]}));
  press_key(field, Qt::Key_Return);
  press_key(field, Qt::Key_Return);
  EXPECT_EQ(shown.document.session().locked, (Focus{expected[2], expected[2]}));
  EXPECT_EQ(count.text(), QString("3 of %1").arg(expected.size()));
  // The map shows it.
  const Box& cells = shown.canvas().places().panels[0].cells;
  const QPointF at = shown.canvas().cell_centre(0, {expected[2], expected[2]});
  EXPECT_TRUE(cells.contains({at.x(), at.y()}));
  press_key(field, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(shown.document.session().locked, (Focus{expected[1], expected[1]}));
  field.setText("no such token");
  EXPECT_EQ(count.text(), "0");
  press_key(field, Qt::Key_Return);
  EXPECT_EQ(shown.document.session().locked, (Focus{expected[1], expected[1]}));
}

TEST(MapTokens, OfTwoSequencesAreFoundInBoth) {
  MapTokens tokens = tokens_of({"a", "b", "ab"}, false);
  tokens.query = map_axis("key", {"b", "c"}, 2, false);
  EXPECT_EQ(token_matches(tokens, "B", Focus{1, 0}), (std::vector<Focus>{{1, 1}, {1, 2}, {0, 0}}));
}

TEST(MapTokens, AnEndBeforeTheBeginningMovesTheRange) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  shown.document.edit("range", [](Session& s) {
    s.maps.layout = "arcs";
    s.maps.range_begin = 20, s.maps.range_end = 26;
  });
  auto& to = shown.named<QSpinBox>("maps-range-to");
  to.setFocus();
  to.selectAll();
  for (const char* letter : {"1", "2"}) press_key(to, 0, Qt::NoModifier, letter);
  press_key(to, Qt::Key_Return);
  EXPECT_EQ(shown.view.relations().range(), (TokenRange{7, 13})) << "as long as before";
  to.setValue(2);
  EXPECT_EQ(shown.view.relations().range(), (TokenRange{0, 3})) << "it begins with the tokens";
}

TEST(MapTokens, ArcsAndTreesShowARange) {
  REQUIRE_DISPLAY();
  ShownMaps shown;
  const auto ready = [&] {
    const RelationsModel& model = shown.view.relations();
    return !model.panels().empty() && !model.busy() && shown.view.relations_canvas().sharp();
  };
  shown.document.edit("tree", [](Session& s) { s.maps.layout = "tree"; });
  ASSERT_TRUE(wait_for(ready));
  const tree::HeadTree whole = *shown.view.relations().panels()[1]->head_tree;
  auto& from = shown.named<QSpinBox>("maps-range-from");
  auto& to = shown.named<QSpinBox>("maps-range-to");
  ASSERT_TRUE(from.isVisible());
  EXPECT_EQ(to.value(), 29);
  to.setValue(19);
  from.setValue(8);
  EXPECT_EQ(shown.maps().range_begin, 8);
  ASSERT_TRUE(wait_for(ready));
  // Moving the beginning moves the range.
  const TokenRange range = shown.view.relations().range();
  EXPECT_EQ(range, (TokenRange{8, 28}));
  const tree::HeadTree& part = *shown.view.relations().panels()[1]->head_tree;
  ASSERT_EQ(part.size, 20U);
  for (std::size_t i = 0; i < part.size; ++i) {
    for (std::size_t k = 0; k < part.size; ++k) {
      EXPECT_NEAR(part.depth[i * 20 + k], whole.depth[(i + 8) * 30 + k + 8], 1e-12);
    }
  }
  ASSERT_TRUE(part.segmentation && part.segmentation->strongest >= 0);
  const QString least = QString("least after token %1").arg(8 + part.segmentation->strongest);
  EXPECT_TRUE(
      shown.view.relations_canvas().accessibleDescription().contains("penumbral, tokens 8"));
  std::string told;
  for (const auto& item :
       figure::place_tree(shown.view.relations().tree_figure(1, 500)).list.items) {
    const auto* text = std::get_if<figure::TextItem>(&item);
    if (text != nullptr) told += figure::plain(text->runs) + " ";
  }
  EXPECT_NE(told.find(least.toStdString()), std::string::npos) << told;
  const auto place = place_of_token(shown.view.relations_canvas(), 1, 3);
  ASSERT_TRUE(place);
  click(shown.view.relations_canvas(), *place);
  EXPECT_EQ(shown.document.session().locked->key, 11);
  // The search moves the range to what it finds.
  auto& field = shown.named<QLineEdit>("maps-search");
  field.setText("[CLS]");
  press_key(field, Qt::Key_Return);
  EXPECT_EQ(shown.view.relations().range(), (TokenRange{0, 20}));
  shown.document.edit("arcs", [](Session& s) {
    s.maps.layout = "arcs";
    s.maps.range_begin = 8, s.maps.range_end = 28;
  });
  ASSERT_TRUE(wait_for(ready));
  const figure::ArcsFigure figure = shown.view.relations().arcs_figure(500);
  EXPECT_EQ(figure.panels[0].keys, 20U);
  EXPECT_EQ(figure.key_tokens.front(), shown.workspace.trace()->key_token[8]);
  EXPECT_EQ(figure.panels[0].title, "dot, tokens 8 to 27 of 30");
  const auto input = head_input(*shown.workspace.trace(), 0, 5);
  const auto source =
      map_source(input, *shown.workspace.trace(), 5, plain_call("dot"), nullptr, Map2d::weights);
  ASSERT_FALSE(figure.panels[0].arcs.empty());
  for (const figure::Arc& arc : figure.panels[0].arcs) {
    const Focus pair = shown.view.relations().pair_of(arc.query, arc.key);
    EXPECT_NEAR(arc.weight, source->exact(pair.query, pair.key), 1e-9);
  }
}

TEST(MapTokens, TheirButtonLooksReleasedOnceItsMenuHasClosed) {
  REQUIRE_DISPLAY();
  ShownMaps shown({1400, 800});
  auto& button = shown.named<QToolButton>("maps-tokens-menu");
  ASSERT_TRUE(button.isVisible());
  const auto on_screen = [&] {
    const QRect at(button.mapTo(&shown.view, QPoint(0, 0)), button.size());
    return button.screen()
        ->grabWindow(shown.view.winId(), at.x(), at.y(), at.width(), at.height())
        .toImage();
  };
  QCursor::setPos(shown.view.mapToGlobal(QPoint(700, 780)));
  pump(150);
  const QImage before = on_screen();
  QCursor::setPos(button.mapToGlobal(button.rect().center()));
  pump(150);
  EXPECT_NE(on_screen(), before) << "the pointer is over it";
  QTimer::singleShot(300, [&] {
    QMenu& menu = *button.menu();
    const QPoint at = menu.actionGeometry(menu.actions().front()).center();
    QCursor::setPos(menu.mapToGlobal(at));
    pump(100);
    QTest::mouseClick(&menu, Qt::LeftButton, Qt::NoModifier, at);
  });
  QTest::mouseClick(&button, Qt::LeftButton);
  // After the click of a mouse, Qt takes the pointer to be over the button here.
  button.setAttribute(Qt::WA_UnderMouse);
  button.repaint();
  EXPECT_NE(on_screen(), before);
  EXPECT_TRUE(wait_for([&] { return on_screen() == before; }, 2000));
}

}  // namespace
}  // namespace conelab::desktop
