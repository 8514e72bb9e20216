// The cards of operators show what the session holds, whatever it is.
#include "widgets/operators/operator_card.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTest>
#include <set>

#include "core/call/call.h"
#include "tests/widgets/driving.h"
#include "widgets/operators/operators_panel.h"

namespace conelab::desktop {
namespace {

TEST(OperatorCard, ShowsMasksThatItDoesNotOffer) {
  Document document;
  OperatorsPanel panel(document);
  const auto* mask = panel.findChild<QComboBox*>("operator-0-mask");
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(mask->findText("padding"), -1);
  for (const std::vector<std::string>& masks :
       {std::vector<std::string>{"causal", "window"}, {"padding"}, {"full"}}) {
    document.edit("mask", [&](Session& s) { s.maps.calls[0].masks = masks; });
    EXPECT_EQ(mask->currentText().toStdString(), fmt::format("{}", fmt::join(masks, ",")));
    EXPECT_EQ(document.session().maps.calls[0].masks, masks);
  }
}

TEST(OperatorCard, SaysWhichValuesAreOfAFileAndResetsThem) {
  Document document;
  OperatorsPanel panel(document);
  document.edit("open", [](Session& s) {
    s.trace.file = "/tmp/trained.h5";
    bring(s, {call_from_text("umbral:gamma=10.15:radius=1.5")});
  });
  auto* origin = panel.findChild<QLabel*>("operator-0-origin");
  ASSERT_NE(origin, nullptr);
  EXPECT_TRUE(origin->text().startsWith("gamma = 10.15, radius = 1.5 from trained.h5"))
      << origin->text().toStdString();
  document.edit("type", [](Session& s) { s.maps.calls[0].parameters["gamma"] = "2"; });
  EXPECT_TRUE(origin->text().startsWith("radius = 1.5 from")) << origin->text().toStdString();
  emit origin->linkActivated("reset");
  EXPECT_EQ(call_text(document.session().maps.calls[0]), "umbral:gamma=2");
  EXPECT_TRUE(origin->isHidden());
}

TEST(OperatorsPanel, WhatWasTypedGoesWithItsCard) {
  REQUIRE_DISPLAY();
  Document document;
  document.edit("one", [](Session& s) { s.maps.calls = {plain_call("penumbral")}; });
  OperatorsPanel panel(document);
  show_active(panel);
  auto* field = panel.findChild<QLineEdit*>("operator-0-gamma");
  ASSERT_NE(field, nullptr);
  field->setFocus();
  QTest::keyClicks(field, "2");
  document.edit("remove it", [](Session& s) { s.maps.calls.clear(); });
  pump();
  EXPECT_TRUE(document.session().maps.calls.empty());
}

TEST(OperatorsPanel, AddsAnOperatorThatIsNotThereYet) {
  Document document;
  OperatorsPanel panel(document);
  std::set<std::string> names;
  for (int i = 0; i < 5; ++i) panel.add_operator();
  const std::vector<Call>& calls = document.session().maps.calls;
  for (const Call& call : calls) names.insert(operator_name(call));
  EXPECT_EQ(names.size(), calls.size());
}

TEST(OperatorCard, OffersEveryPartThatItsOperatorTakes) {
  REQUIRE_DISPLAY();
  Document document;
  OperatorsPanel panel(document);
  panel.resize(260, 900);
  show_active(panel);
  const auto box = [&](const char* name) {
    return panel.findChild<QComboBox*>(QStringLiteral("operator-0-") + name);
  };
  const auto call = [&]() -> const Call& { return document.session().maps.calls[0]; };
  document.edit("operator", [&](Session& s) { s.maps.calls = {call_from_text("dot")}; });
  for (const std::string& name : operator_names()) {
    box("similarity")->setCurrentText(QString::fromStdString(name));
    EXPECT_EQ(call_text(call()), call_text(call_from_text(name)));
    const std::string about = box("similarity")->toolTip().toStdString();
    EXPECT_TRUE(about.starts_with(operator_name(call()) + ": ")) << about;
    for (const CallField& field : call_fields()) {
      const bool of_heads = field.word == &Call::similarity;
      QComboBox* part = box(of_heads ? "of-heads" : std::string(field.option).substr(2).c_str());
      ASSERT_NE(part, nullptr) << field.name;
      const std::vector<PartInfo> parts = fitting_parts(field, call());
      EXPECT_EQ(part->isVisibleTo(&panel), parts.size() > 1) << name << " " << field.name;
      if (parts.size() < 2) continue;
      const Call before = call();
      const std::string now = field_text(field, before, ',');
      const std::string other = parts.back().name == now ? parts.front().name : parts.back().name;
      part->setCurrentText(QString::fromStdString(other));
      EXPECT_EQ(field_text(field, call(), ','), other) << name;
      EXPECT_NE(part->toolTip().indexOf(QString::fromStdString(other + ": ")), -1) << name;
      document.undo();
      EXPECT_EQ(call_text(call()), call_text(before));
    }
  }
}

TEST(OperatorCard, TransformerXlIsDotWithAMask) {
  Document document;
  OperatorsPanel panel(document);
  auto* box = panel.findChild<QComboBox*>("operator-0-similarity");
  for (int again = 0; again < 2; ++again) {  // The second time nothing changes.
    box->setCurrentText("transformer-xl");
    EXPECT_EQ(call_text(document.session().maps.calls[0]), "dot:masks=segment");
    EXPECT_EQ(box->currentText(), "dot");
  }
  EXPECT_EQ(panel.findChild<QComboBox*>("operator-0-mask")->currentText(), "segment");
}

TEST(OperatorCard, TheMapOfTheSimilarityIsTheDefault) {
  Document document;
  OperatorsPanel panel(document);
  auto* map = panel.findChild<QComboBox*>("operator-0-map");
  const auto choose = [&](const char* name) {
    map->setCurrentText(name);
    return call_text(document.session().maps.calls[0]);
  };
  document.edit("operator", [&](Session& s) { s.maps.calls = {call_from_text("penumbral")}; });
  EXPECT_EQ(map->currentText(), "default");
  EXPECT_EQ(choose("exp"), "penumbral:map=exp");
  EXPECT_NE(panel.findChild<QLineEdit*>("operator-0-base_height"), nullptr);
  const auto tip = [&] { return map->toolTip().toStdString(); };
  EXPECT_NE(tip().find("exp: (x_: S t, min(t, h))"), std::string::npos) << tip();
  EXPECT_EQ(choose("default"), "penumbral");
  EXPECT_NE(tip().find("the similarity's own map, xi: "), std::string::npos) << tip();
  document.edit("model",
                [&](Session& s) { s.maps.calls = {call_from_text("hyperbolic:model=halfspace")}; });
  EXPECT_NE(tip().find("the similarity's own map, psi: "), std::string::npos) << tip();
  document.edit("model", [&](Session& s) { s.maps.calls = {call_from_text("hyperbolic")}; });
  EXPECT_NE(tip().find("the similarity's own map, pi: "), std::string::npos) << tip();
}

TEST(OperatorCard, FieldsOfEveryOperatorBeginAtOnePlace) {
  REQUIRE_DISPLAY();
  Document document;
  OperatorsPanel panel(document);
  panel.resize(260, 900);
  show_active(panel);
  for (const std::string& name : operator_names()) {
    document.edit("operator", [&](Session& s) { s.maps.calls = {call_from_text(name)}; });
    pump(20);
    const auto* card = panel.findChild<OperatorCard*>();
    std::set<int> left;
    for (const QWidget* field : card->findChildren<QWidget*>()) {
      const QString object = field->objectName();
      const bool is_field = qobject_cast<const QComboBox*>(field) != nullptr ||
                            qobject_cast<const QLineEdit*>(field) != nullptr;
      if (!is_field || !field->isVisible() || object == "operator-0-similarity") continue;
      left.insert(field->mapTo(card, QPoint(0, 0)).x());
    }
    EXPECT_EQ(left.size(), 1U) << name;
  }
}

}  // namespace
}  // namespace conelab::desktop
