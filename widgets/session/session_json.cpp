#include "widgets/session/session_json.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <span>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/drawing/colour_map.h"
#include "core/files/atomic_file.h"
#include "core/geometry/cone_family.h"
#include "core/source/figure_table.h"
#include "widgets/session/session_members.h"

namespace conelab::desktop {
namespace {

QJsonValue to_json(const std::string& text) { return QString::fromStdString(text); }
QJsonValue to_json(const Value& value) { return to_json(value.text()); }
QJsonValue to_json(bool value) { return value; }
QJsonValue to_json(int value) { return value; }
QJsonValue to_json(double value) { return value; }
QJsonValue to_json(std::int64_t value) { return static_cast<qint64>(value); }

void read(const QJsonValue& v, std::string& text) {
  if (v.isString()) text = v.toString().toStdString();
}
void read(const QJsonValue& v, Value& value) {
  if (v.isString()) value = v.toString().toStdString();
}
void read(const QJsonValue& v, bool& value) { value = v.toBool(value); }
void read(const QJsonValue& v, int& value) { value = v.toInt(value); }
void read(const QJsonValue& v, double& value) { value = v.toDouble(value); }
void read(const QJsonValue& v, std::int64_t& value) { value = v.toInteger(value); }

QJsonValue to_json(const QJsonObject& parts) { return parts; }
void read(const QJsonValue& v, QJsonObject& parts) { parts = v.toObject(); }

QJsonValue to_json(const std::array<double, 2>& point) { return QJsonArray{point[0], point[1]}; }
void read(const QJsonValue& v, std::array<double, 2>& point) {
  const QJsonArray list = v.toArray();
  if (list.size() == 2) point = {list[0].toDouble(point[0]), list[1].toDouble(point[1])};
}

template <class Part>
requires has_members<Part> QJsonValue to_json(Part part);
template <class Part>
requires has_members<Part>
void read(const QJsonValue& value, Part& part);

template <class T>
QJsonValue to_json(const std::vector<T>& list) {
  QJsonArray out;
  for (const T& item : list) out.append(to_json(item));
  return out;
}
template <class T>
void read(const QJsonValue& v, std::vector<T>& list) {
  if (!v.isArray()) return;
  list.clear();
  for (const QJsonValue& item : v.toArray()) read(item, list.emplace_back());
}

template <class T>
QJsonValue to_json(const std::map<std::string, T>& map) {
  QJsonObject out;
  for (const auto& [key, value] : map) out[QString::fromStdString(key)] = to_json(value);
  return out;
}
template <class T>
void read(const QJsonValue& v, std::map<std::string, T>& map) {
  if (!v.isObject()) return;
  map.clear();
  const QJsonObject object = v.toObject();
  for (auto it = object.begin(); it != object.end(); ++it) {
    read(it.value(), map[it.key().toStdString()]);
  }
}

template <class T>
QJsonValue to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : QJsonValue(QJsonValue::Undefined);  // No member is written.
}
template <class T>
void read(const QJsonValue& v, std::optional<T>& value) {
  read(v, value.emplace());
}

template <class Part>
requires has_members<Part> QJsonValue to_json(Part part) {
  QJsonObject object;
  auto write = [&](const char* name, const auto& value) {
    object.insert(QLatin1String(name), to_json(value));
  };
  members(write, part);
  return object;
}
template <class Part>
requires has_members<Part>
void read(const QJsonValue& value, Part& part) {
  const QJsonObject object = value.toObject();
  auto take = [&](const char* name, auto& member) {
    const QJsonValue found = object[QLatin1String(name)];
    if (!found.isUndefined()) read(found, member);
  };
  members(take, part);
}

void keep(std::string& word, std::span<const char* const> known) {
  if (!contains(known, word)) word = known[0];
}

template <class List, class NameOf>
bool names_one(const List& list, const std::string& word, NameOf name_of) {
  return std::ranges::any_of(list, [&](const auto& e) { return name_of(e) == word; });
}

void keep_known_words(MapChoice& c) {
  const MapChoice plain;
  keep(c.quantity, map_quantities);
  keep(c.scale, figure::heat_scale_names);
  keep(c.layout, map_layouts);
  keep(c.arc_arrangement, arc_arrangements);
  keep(c.tree_tokens, tree_sides);
  keep(c.percentiles, map_percentiles);
  keep(c.special_tokens, special_token_choices);
  keep(c.heads_rows, figure::head_row_choices);
  keep(c.head_score, tree::head_score_names);
  keep(c.heads_order, figure::head_orders);
  keep(c.join, head_joins);
  if (c.beside) keep(c.beside->join, head_joins);
  std::erase_if(c.brought, [](const Brought& each) { return each.calls.empty(); });
  if (c.heads_operator < 0) c.heads_operator = 0;
  if (c.arc_top < 1) c.arc_top = plain.arc_top;
  const bool of_theme = c.colours == plain.colours;
  if (!of_theme &&
      !names_one(figure::colour_maps(), c.colours, [](const auto& map) { return map.name; })) {
    c.colours = plain.colours;
  }
}

void keep_known_words(ConeChoice& c) {
  const auto unknown = [](const std::string& name) {
    return !names_one(geometry::cone_families(), name, [](const auto* f) { return f->name; });
  };
  keep(c.model, cone_models);
  keep(c.depth, cone_depths);
  keep(c.similarity, heat_similarities);
  if (unknown(c.family)) c.family = ConeChoice().family;
  std::erase_if(c.beside, unknown);
}

/// Words that no view knows, for instance those of a later version, become the defaults. An unknown
/// figure is removed with its inputs and parameters.
void keep_known_words(Session& s) {
  keep(s.trace.device, trace_devices);
  keep_known_words(s.maps);
  const auto& beside = s.maps.beside;
  if (beside && beside->group == all_arrays && beside->file != s.trace.file) s.maps.beside.reset();
  keep_known_words(s.cones);
  keep(s.bench.page, bench_pages);
  keep(s.theme, themes);
  const auto name_of = [](const figure::FigureInfo& info) { return info.name; };
  if (!names_one(figure::figure_table(), s.figure.name, name_of)) s.figure = {};
}

}  // namespace

QByteArray session_to_json(const SavedSession& saved) {
  const QJsonObject root{{"conelab_session", 1},
                         {"session", to_json(saved.session)},
                         {"layout", QString::fromLatin1(saved.layout.toBase64())}};
  return QJsonDocument(root).toJson();
}

SavedSession session_from_json(const QByteArray& json, const QString& name) {
  QJsonParseError error;
  const QJsonDocument document = QJsonDocument::fromJson(json, &error);
  if (document.isNull()) {
    fail("{}: not a session: {} at byte {}", name.toStdString(), error.errorString().toStdString(),
         error.offset);
  }
  const QJsonObject root = document.object();
  if (root["conelab_session"].toInt() != 1) {
    fail("{}: not a session of this program (expected conelab_session = 1)", name.toStdString());
  }
  SavedSession saved;
  read(root["session"], saved.session);
  keep_known_words(saved.session);
  saved.layout = QByteArray::fromBase64(root["layout"].toString().toLatin1());
  return saved;
}

void check_replaceable_session(const QString& path) {
  constexpr qint64 head = 4096;  // The key stands at the beginning of what `save_session` writes.
  QFile file(path);
  if (!file.exists() || file.size() == 0) return;
  if (file.open(QIODevice::ReadOnly) && file.read(head).contains("\"conelab_session\"")) return;
  misuse("{}: is not a session of this program, and would be lost; remove it, or give another name",
         path.toStdString());
}

void save_session(const SavedSession& saved, const QString& path) {
  write_text_atomically(path.toStdString(), session_to_json(saved).toStdString());
}

SavedSession load_session(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) {
    fail("{}: {}", path.toStdString(), file.errorString().toStdString());
  }
  constexpr qint64 longest = 16 << 20;
  if (file.size() > longest) fail("{}: too large for a session", path.toStdString());
  return session_from_json(file.readAll(), path);
}

}  // namespace conelab::desktop
