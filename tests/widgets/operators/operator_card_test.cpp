// The cards of operators show what the session holds, whatever it is.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <set>

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
