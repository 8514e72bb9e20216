#include "widgets/explorer/cone_shader.h"

#include <QOpenGLContext>
#include <QOpenGLExtraFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "widgets/explorer/cone_shader_source.h"
#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

constexpr int table_size = 256;

int model_index(geometry::Model model) {
  switch (model) {
    case geometry::Model::ball:
      return 1;
    case geometry::Model::klein:
      return 2;
    case geometry::Model::band:
      return 3;
    default:
      return 0;
  }
}

QVector4D colour(const QColor& c, double alpha) {
  return {static_cast<float>(c.redF()), static_cast<float>(c.greenF()),
          static_cast<float>(c.blueF()), static_cast<float>(alpha)};
}

/// A round step of which about eight lie in the range.
double level_step(const DepthRange& range) {
  const double raw = (range.high - range.low) / 8;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double m : {1.0, 2.0, 5.0}) {
    if (m * power >= raw) return m * power;
  }
  return 10 * power;
}

}  // namespace

struct ConeShader::Objects {
  QOpenGLShaderProgram program;
  QOpenGLVertexArrayObject array;
  unsigned texture = 0;
  int dark = -1;
};

ConeShader::ConeShader() = default;
ConeShader::~ConeShader() = default;

DepthRange depth_range(const ConeScene& scene, const PlaneFrame& frame) {
  if (!scene.infinite) return {0, 4};
  const double top = scene.penumbral ? scene.parameter : 1.5 * frame.lambda();
  return {-std::min(top, 1.5 * frame.lambda()), 0};
}

void ConeShader::create() {
  objects_ = std::make_unique<Objects>();
  objects_->program.addShaderFromSourceCode(QOpenGLShader::Vertex, cone_vertex_source);
  objects_->program.addShaderFromSourceCode(QOpenGLShader::Fragment, cone_fragment_source);
  if (!objects_->program.link()) qWarning("%s", qPrintable(objects_->program.log()));
  objects_->array.create();
  QOpenGLContext::currentContext()->functions()->glGenTextures(1, &objects_->texture);
}

void ConeShader::destroy() {
  if (!objects_) return;
  QOpenGLContext::currentContext()->functions()->glDeleteTextures(1, &objects_->texture);
  objects_.reset();
}

void ConeShader::draw(const PlaneFrame& frame, const ConeScene& scene, const ConeChoice& choice,
                      const QSizeF& size, double density, const QPalette& palette) {
  if (!objects_) return;
  QOpenGLExtraFunctions* gl = QOpenGLContext::currentContext()->extraFunctions();
  const int dark = is_dark(palette) ? 1 : 0;
  gl->glActiveTexture(GL_TEXTURE0);
  gl->glBindTexture(GL_TEXTURE_2D, objects_->texture);
  if (objects_->dark != dark) {
    std::vector<std::uint8_t> table;
    for (int i = 0; i < table_size; ++i) {
      const figure::Colour c = figure::colour_at(
          dark ? figure::ColourMap::dark : figure::ColourMap::sequential, i / (table_size - 1.0));
      table.insert(table.end(), {c.r, c.g, c.b, 255});
    }
    gl->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, table_size, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                     table.data());
    gl->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    gl->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    gl->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    objects_->dark = dark;
  }
  QOpenGLShaderProgram& p = objects_->program;
  p.bind();
  const double lambda = frame.lambda();
  const double scale = scene.infinite ? 1 / lambda : 1;  // Of axes and shadows.
  const double x0 = scene.infinite ? frame.x0() : 0;
  const auto law = [&](const LawPoint& point) {
    return QVector2D(static_cast<float>((point.axis - x0) * scale),
                     static_cast<float>(point.shadow * scale));
  };
  const auto place = [&](double x, double y) {
    return QVector2D(static_cast<float>((x - frame.x0()) / lambda), static_cast<float>(y / lambda));
  };
  const bool valid = scene.error.empty();
  const DepthRange range = depth_range(scene, frame);
  p.setUniformValue("window",
                    QVector2D(static_cast<float>(size.width()), static_cast<float>(size.height())));
  p.setUniformValue("density", static_cast<float>(density));
  p.setUniformValue("origin", QVector2D(static_cast<float>(frame.origin().x),
                                        static_cast<float>(frame.origin().y)));
  p.setUniformValue("unit", static_cast<float>(frame.unit()));
  p.setUniformValue("model", model_index(frame.model()));
  p.setUniformValue("infinite", scene.infinite);
  p.setUniformValue("penumbral", scene.penumbral);
  p.setUniformValue("parameter",
                    static_cast<float>(scene.infinite && scene.penumbral ? scene.parameter / lambda
                                                                         : scene.parameter));
  p.setUniformValue("largest", static_cast<float>(std::min(1e30, scene.largest_shadow * scale)));
  p.setUniformValue("source", place(choice.source[0], choice.source[1]));
  p.setUniformValue("u", law(scene.u));
  p.setUniformValue("v", law(scene.v));
  p.setUniformValue("lca", law(scene.lca.value_or(LawPoint{})));
  p.setUniformValue("u_place", place(choice.u[0], choice.u[1]));
  p.setUniformValue("v_place", place(choice.v[0], choice.v[1]));
  p.setUniformValue("has_lca", valid && scene.lca && choice.ancestors);
  p.setUniformValue("valid", valid);
  p.setUniformValue("heat", valid && choice.heat);
  p.setUniformValue("levels", valid && choice.level_lines);
  p.setUniformValue("objects", valid && choice.objects && !scene.penumbral);
  p.setUniformValue("depth_low", static_cast<float>(range.low * scale));
  p.setUniformValue("depth_high", static_cast<float>(range.high * scale));
  p.setUniformValue("depth_step", static_cast<float>(level_step(range) * scale));
  p.setUniformValue("ground", colour(palette.color(QPalette::Base), 1));
  p.setUniformValue("outside", colour(palette.color(QPalette::Window), 1));
  p.setUniformValue("ink", colour(quiet_ink(palette), 1));
  p.setUniformValue("u_colour", colour(operator_colour(0, palette), 0.30));
  p.setUniformValue("v_colour", colour(operator_colour(1, palette), 0.30));
  p.setUniformValue("lca_colour", colour(operator_colour(2, palette), 0.26));
  p.setUniformValue("light_colour", dark ? QVector4D(0.93F, 0.80F, 0.38F, 0.55F)
                                         : QVector4D(1.0F, 0.86F, 0.42F, 0.75F));
  p.setUniformValue("table", 0);
  objects_->array.bind();
  gl->glDisable(GL_BLEND);
  gl->glDrawArrays(GL_TRIANGLES, 0, 3);
  objects_->array.release();
  p.release();
}

}  // namespace conelab::desktop
