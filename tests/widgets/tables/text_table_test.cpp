#include <gtest/gtest.h>

#include <QFontMetrics>

#include "widgets/tables/text_table_model.h"

namespace conelab::desktop {
namespace {

// A table is first shown while its numbers are computed.
TEST(TextTable, ColumnsWidenToTheirTextsAndStayThere) {
  TextTableView view;
  view.resize(900, 400);
  view.show_table({{"operator", "value", "note"}, {{"dot", "…", ""}}});
  const int narrow = view.columnWidth(1);
  const std::string number = "-0.123456789012, 0.98765432101";
  view.show_table({{"operator", "value", "note"}, {{"dot", number, ""}}});
  const int wide = view.columnWidth(1);
  EXPECT_GT(wide, narrow);
  EXPECT_GE(wide, view.fontMetrics().horizontalAdvance(QString::fromStdString(number)));
  view.show_table({{"operator", "value", "note"}, {{"dot", "1", ""}}});
  EXPECT_EQ(view.columnWidth(1), wide);
  view.show_table({{"operator", "value"}, {{"dot", "1"}}});
  EXPECT_EQ(view.model()->columnCount(), 2);
}

}  // namespace
}  // namespace conelab::desktop
