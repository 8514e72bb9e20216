#include "widgets/session/session_json.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/files/atomic_file.h"

namespace conelab::desktop {
namespace {

QJsonValue to_json(const std::string& text) { return QString::fromStdString(text); }
QJsonValue to_json(bool value) { return value; }
QJsonValue to_json(int value) { return value; }
QJsonValue to_json(double value) { return value; }
QJsonValue to_json(std::int64_t value) { return static_cast<qint64>(value); }

void read(const QJsonValue& v, std::string& text) {
  if (v.isString()) text = v.toString().toStdString();
}
void read(const QJsonValue& v, bool& value) { value = v.toBool(value); }
void read(const QJsonValue& v, int& value) { value = v.toInt(value); }
void read(const QJsonValue& v, double& value) { value = v.toDouble(value); }
void read(const QJsonValue& v, std::int64_t& value) { value = v.toInteger(value); }

QJsonValue to_json(const std::array<double, 2>& point) { return QJsonArray{point[0], point[1]}; }
void read(const QJsonValue& v, std::array<double, 2>& point) {
  const QJsonArray list = v.toArray();
  if (list.size() == 2) point = {list[0].toDouble(point[0]), list[1].toDouble(point[1])};
}

QJsonValue to_json(const Call& call);
void read(const QJsonValue& v, Call& call);
QJsonValue to_json(const std::optional<ConeCamera>& camera);
void read(const QJsonValue& v, std::optional<ConeCamera>& camera);

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

// ---- the members, told once for both directions -------------------------------------------------

template <class A>
void members(A& a, Call& c) {
  a("similarity", c.similarity), a("map", c.map), a("bias", c.bias), a("masks", c.masks);
  a("weights", c.weights), a("aggregate", c.aggregate), a("parameters", c.parameters);
}
template <class A>
void members(A& a, TraceChoice& c) {
  a("file", c.file), a("group", c.group), a("batch", c.batch), a("head", c.head);
  a("device", c.device);
}
template <class A>
void members(A& a, MapChoice& c) {
  a("calls", c.calls), a("quantity", c.quantity), a("scale", c.scale), a("colours", c.colours);
  a("shared_limits", c.shared_limits), a("reference", c.reference), a("layout", c.layout);
  a("arc_top", c.arc_top), a("arc_threshold", c.arc_threshold);
  a("arc_arrangement", c.arc_arrangement), a("tree_tokens", c.tree_tokens);
}
template <class A>
void members(A& a, Focus& c) {
  a("query", c.query), a("key", c.key);
}
template <class A>
void members(A& a, ConeCamera& c) {
  a("x0", c.x0), a("log_scale", c.log_scale), a("yaw", c.yaw), a("pitch", c.pitch);
  a("zoom", c.zoom);
}
template <class A>
void members(A& a, ConeChoice& c) {
  a("family", c.family), a("beside", c.beside), a("parameters", c.parameters);
  a("model", c.model), a("horospheres", c.horospheres), a("snap", c.snap);
  a("u", c.u), a("v", c.v), a("source", c.source);
  a("heat", c.heat), a("level_lines", c.level_lines), a("ancestors", c.ancestors);
  a("objects", c.objects), a("geodesic", c.geodesic), a("follow_tokens", c.follow_tokens);
  a("camera", c.camera);
}
template <class A>
void members(A& a, FigureChoice& c) {
  a("name", c.name), a("inputs", c.inputs), a("parameters", c.parameters), a("width", c.width);
}
template <class A>
void members(A& a, BenchChoice& c) {
  a("operators", c.operators), a("passes", c.passes), a("dtypes", c.dtypes);
  a("devices", c.devices), a("lengths", c.lengths), a("dims", c.dims), a("heads", c.heads);
  a("batch", c.batch), a("threads", c.threads), a("rounds", c.rounds), a("seed", c.seed);
  a("time_limit", c.time_limit), a("cold", c.cold), a("output", c.output), a("shown", c.shown);
  a("compared", c.compared), a("page", c.page), a("place", c.place), a("hidden", c.hidden);
}

struct Writer {
  QJsonObject object;
  template <class T>
  void operator()(const char* name, const T& value) {
    object[QLatin1String(name)] = to_json(value);
  }
};
struct Reader {
  const QJsonObject& object;
  template <class T>
  void operator()(const char* name, T& value) const {
    const QJsonValue found = object[QLatin1String(name)];
    if (!found.isUndefined()) read(found, value);
  }
};

template <class Part>
QJsonObject written(Part part) {
  Writer writer;
  members(writer, part);
  return writer.object;
}
template <class Part>
void read_part(const QJsonValue& value, Part& part) {
  const QJsonObject object = value.toObject();
  Reader reader{object};
  members(reader, part);
}

/// Words that no view knows, as of a later version, become the defaults.
void keep_known_words(MapChoice& c) {
  const MapChoice plain;
  const auto keep = [](std::string& word, std::initializer_list<const char*> known,
                       const std::string& otherwise) {
    if (std::find(known.begin(), known.end(), word) == known.end()) word = otherwise;
  };
  keep(c.quantity, {"weights", "logits"}, plain.quantity);
  keep(c.scale, {"linear", "log", "row", "rank"}, plain.scale);
  keep(c.layout, {"maps", "heads", "arcs", "tree", "hasse", "table"}, plain.layout);
  keep(c.arc_arrangement, {"sides", "above", "rows"}, plain.arc_arrangement);
  keep(c.tree_tokens, {"key", "query"}, plain.tree_tokens);
  if (c.arc_top < 1) c.arc_top = plain.arc_top;
  const auto& maps = figure::colour_maps();
  if (std::none_of(maps.begin(), maps.end(), [&](const auto& m) { return m.name == c.colours; })) {
    c.colours = plain.colours;
  }
}

QJsonValue to_json(const Call& call) { return written(call); }
void read(const QJsonValue& v, Call& call) { read_part(v, call); }

QJsonValue to_json(const std::optional<ConeCamera>& camera) {
  return camera ? QJsonValue(written(*camera)) : QJsonValue();
}
void read(const QJsonValue& v, std::optional<ConeCamera>& camera) {
  camera.reset();
  if (v.isObject()) read_part(v, camera.emplace());
}

}  // namespace

QByteArray session_to_json(const SavedSession& saved) {
  const Session& s = saved.session;
  QJsonObject parts{{"trace", written(s.trace)}, {"maps", written(s.maps)},
                    {"cones", written(s.cones)}, {"figure", written(s.figure)},
                    {"bench", written(s.bench)}, {"theme", QString::fromStdString(s.theme)}};
  if (s.locked) parts["locked"] = written(*s.locked);
  const QJsonObject root{{"conelab_session", 1},
                         {"session", parts},
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
  const QJsonObject parts = root["session"].toObject();
  SavedSession saved;
  Session& s = saved.session;
  read_part(parts["trace"], s.trace), read_part(parts["maps"], s.maps);
  keep_known_words(s.maps);
  read_part(parts["cones"], s.cones), read_part(parts["figure"], s.figure);
  read_part(parts["bench"], s.bench), read(parts["theme"], s.theme);
  if (parts.contains("locked")) read_part(parts["locked"], s.locked.emplace());
  saved.layout = QByteArray::fromBase64(root["layout"].toString().toLatin1());
  return saved;
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
