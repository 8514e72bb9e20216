// Figures, the lowest common ancestor of two points, and the table of operators.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "app/lca_json.h"
#include "app/list_rows.h"
#include "app/python/module.h"
#include "core/drawing/svg.h"
#include "core/jobs/figure_job.h"

namespace conelab::python {
namespace {

namespace nb = nanobind;

class Figure {
 public:
  Figure(const std::string& name, const std::vector<std::string>& inputs,
         const std::map<std::string, std::string>& parameters, const std::string& width) {
    std::mutex mutex;
    run_unlocked([&](const std::function<bool()>& cancelled) {
      FigureRequest request{name, inputs, parameters, width, {}, {}};
      request.context.cancelled = cancelled;
      request.context.remark = [&](const std::string& text) {
        const std::lock_guard lock(mutex);
        remarks_.push_back(text);
      };
      list_ = draw_figure(request);
    });
  }
  [[nodiscard]] std::string svg() const { return figure::to_svg(list_); }
  [[nodiscard]] std::string description() const { return list_.metadata.description; }
  [[nodiscard]] std::vector<std::string> remarks() const { return remarks_; }
  void save(const std::string& path) const {
    run_unlocked([&](const auto&) {
      (void)claim_figure(path, JobContext());
      write_figure_file(list_, path, JobContext());
    });
  }

 private:
  figure::DisplayList list_;
  std::vector<std::string> remarks_;
};

/// Returns the answer of `conelab lca --json`.
std::string lca(const std::string& cone, const std::vector<double>& u, const std::vector<double>& v,
                const std::map<std::string, std::string>& parameters, const std::string& model) {
  std::string text;
  run_unlocked([&](const auto&) {
    const auto point = [](const std::vector<double>& x) {
      return geometry::Vector(geometry::Vector::Map(x.data(), static_cast<Eigen::Index>(x.size())));
    };
    text = lca_json(geometry::lca_query(cone, parameters, point(u), point(v), model)).dump();
  });
  return text;
}

std::string rows(const std::string& name) {
  std::string text;
  run_unlocked([&](const auto&) { text = find_listing(name).rows().dump(); });
  return text;
}

}  // namespace

void add_figures(nb::module_& module) {
  nb::class_<Figure>(module, "Figure")
      .def(nb::init<const std::string&, const std::vector<std::string>&,
                    const std::map<std::string, std::string>&, const std::string&>())
      .def("svg", &Figure::svg)
      .def("save", &Figure::save)
      .def_prop_ro("description", &Figure::description)
      .def_prop_ro("remarks", &Figure::remarks);
  module.def("lca", &lca);
  module.def("rows", &rows);
}

}  // namespace conelab::python
