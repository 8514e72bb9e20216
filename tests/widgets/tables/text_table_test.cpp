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

TEST(TextTable, RemarksTakeWhatTheColumnsBeforeThemLeave) {
  const std::string why = "not resolved: 0.585 octaves of n, where an exponent needs 3 of them";
  TextTableView view;
  view.resize(400, 300);
  view.show();
  view.show_table({{"operator", "exponent", "note", "low", "high"}, {{"dot", "", why, "", ""}}});
  const auto right = [&] { return view.columnViewportPosition(2) + view.columnWidth(2); };
  EXPECT_EQ(right(), view.viewport()->width());
  EXPECT_EQ(view.model()->index(0, 2).data(Qt::ToolTipRole).toString().toStdString(), why);
  view.resize(1600, 300);
  EXPECT_GE(view.columnWidth(2), view.fontMetrics().horizontalAdvance(QString::fromStdString(why)));
  EXPECT_LT(right(), view.viewport()->width());
  view.resize(150, 300);  // Some of it is to be read, even so.
  EXPECT_GE(view.columnWidth(2), view.fontMetrics().horizontalAdvance("not resolved"));
}

TEST(TextTable, OnlyColumnsOfNumbersAreRightAligned) {
  TextTableView view;
  view.resize(900, 300);
  const auto is_right = [&](int column) {
    const QVariant alignment =
        view.model()->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole);
    EXPECT_EQ(alignment, view.model()->index(0, column).data(Qt::TextAlignmentRole));
    return (alignment.toInt() & Qt::AlignRight) != 0;
  };
  view.show_table({{"operator", "pass", "time", "of peak", "interval", "point", "note", "last"},
                   {{"dot", "forward", "2.98 ms", "81 %", "0.890 .. 0.917", "1, -2", "", "1.96"},
                    {"dot", "7 of them", "90.06 GFLOP/s", "(105 %)", "-", "1e-06", "", ""}}});
  for (const int text : {0, 1, 6}) EXPECT_FALSE(is_right(text)) << text;
  for (const int number : {2, 3, 4, 5, 7}) EXPECT_TRUE(is_right(number)) << number;
  EXPECT_LT(view.columnWidth(7), 200) << "numbers stand by their neighbours";
  // It is the cells that decide, also where they alone change.
  view.show_table({{"key", "token"}, {{"0", "…"}, {"1", "…"}}});
  EXPECT_TRUE(is_right(0));
  view.show_table({{"key", "token"}, {{"0", "du"}, {"1", "2"}}});
  EXPECT_FALSE(is_right(1));
  EXPECT_EQ(view.columnWidth(0) + view.columnWidth(1), view.viewport()->width());
}

TEST(TextTable, HeadersStandOverTheirColumns) {
  TextTableView view;
  view.show_table({{"operator", "n", "time (s)", "status"}, {{"dot", "64", "0.5", "ok"}}});
  const QAbstractItemModel& model = *view.model();
  const auto over = [&](int column) {
    return model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
  };
  for (int column = 0; column < model.columnCount(); ++column) {
    EXPECT_EQ(over(column), model.index(0, column).data(Qt::TextAlignmentRole).toInt()) << column;
  }
  EXPECT_NE(over(0), over(1));
}

}  // namespace
}  // namespace conelab::desktop
