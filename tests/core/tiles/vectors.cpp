#include "tests/core/tiles/vectors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/call/call.h"

namespace conelab::tests {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// "1 2; 3 4" -> [1 × 1 × 2 × 2].
Tensor4<double> rows_of(const std::string& text) {
  Tensor4<double> rows({1, 1, 0, 0});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, ';');) {
    const std::vector<std::string> numbers = words_of(line);
    for (const std::string& number : numbers) rows.data.push_back(std::stod(number));
    rows.shape.feature = static_cast<std::int64_t>(numbers.size());
    ++rows.shape.token;
  }
  if (rows.shape.size() != static_cast<std::int64_t>(rows.data.size())) {
    fail("rows of different lengths: {}", text);
  }
  return rows;
}

void read_parameters(const std::string& text, Call& call) {
  for (const std::string& pair : words_of(text)) {
    const auto equals = pair.find('=');
    call.parameters[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
}

/// "W 1 2; 3 4"
std::pair<std::string, Tensor4<double>> named_rows(const std::string& text) {
  const auto space = text.find(' ');
  return {text.substr(0, space), rows_of(text.substr(space + 1))};
}

/// "W 1 2; 3 4"; one row is a vector, unless a semicolon follows. Heads of a tensor are separated
/// by |.
void read_tensor(const std::string& text, AttentionInput<double>& input) {
  const auto space = text.find(' ');
  std::string numbers = text.substr(space + 1);
  const auto heads = std::count(numbers.begin(), numbers.end(), '|') + 1;
  std::replace(numbers.begin(), numbers.end(), '|', ';');
  const Tensor4<double> rows = rows_of(numbers);
  const std::string name = text.substr(0, space);
  if (name == "edge") {
    input.indices[name] = {{rows.shape.token, 2}, {rows.data.begin(), rows.data.end()}};
    return;
  }
  Array<double>& tensor = input.tensors[name];
  tensor.data = rows.data;
  tensor.extents = {rows.shape.feature};
  const bool is_matrix = numbers.find(';') != std::string::npos;
  if (is_matrix) tensor.extents.insert(tensor.extents.begin(), rows.shape.token);
  if (heads > 1) tensor.extents = {heads, rows.shape.token / heads, rows.shape.feature};
}

void read_line(const std::string& key, const std::string& rest, KnownAnswer& answer) {
  Call& call = answer.call;
  for (const CallField& field : call_fields()) {
    if (key == field.name) return set_field(field, call, rest, ' ');
  }
  if (key == "operator") {
    set_operator(call, rest);
  } else if (key == "tensor") {
    read_tensor(rest, answer.input);
  } else if (key == "parameters") {
    read_parameters(rest, call);
  } else if (key == "tolerance") {
    answer.tolerance = std::stod(rest);
  } else if (key == "q") {
    answer.input.query = rows_of(rest);
  } else if (key == "k") {
    answer.input.key = rows_of(rest);
  } else if (key == "v") {
    answer.input.value = rows_of(rest);
  } else if (key == "logits" || key == "weights_are" || key == "output" || key == "lse") {
    answer.answers[key] = rows_of(rest);
  } else if (key == "gradient") {
    answer.gradients.insert(named_rows(rest));
  } else if (key == "determinant") {
    answer.determinant = std::stod(rest);
  } else if (key != "inputs" || rest != "float32") {
    fail("{}: unknown line '{} {}'", answer.file, key, rest);
  }
}

void round_to_float(AttentionInput<double>& input) {
  for (auto* t : {&input.query, &input.key, &input.value}) {
    for (double& x : t->owned().data) x = static_cast<double>(static_cast<float>(x));
  }
}

/// The lines of one case, the first being its name.
KnownAnswer read_case(const std::string& file, const std::vector<std::string>& lines) {
  KnownAnswer answer;
  answer.file = file;
  answer.name = lines.front();
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto space = lines[i].find(' ');
    read_line(lines[i].substr(0, space), lines[i].substr(space + 1), answer);
  }
  if (!reads_keys(answer.call)) answer.input.key = answer.input.value = answer.input.query;
  if (answer.input.value.empty()) {
    answer.input.value = Tensor4<double>({1, 1, answer.input.key.shape.token, 1});
  }
  if (std::count(lines.begin(), lines.end(), "inputs float32") > 0) round_to_float(answer.input);
  if (answer.answers.empty()) fail("{}: case {} has no answer", file, answer.name);
  return answer;
}

void read_file(const std::filesystem::path& path, std::vector<KnownAnswer>& all) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  const auto finish = [&] {
    if (!lines.empty()) all.push_back(read_case(path.stem().string(), lines));
    lines.clear();
  };
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.rfind("case ", 0) == 0) {
      finish();
      lines.push_back(line.substr(5));
    } else {
      lines.push_back(line);
    }
  }
  finish();
}

std::vector<KnownAnswer> read_all() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = std::filesystem::path(CONELAB_SOURCE_DIR) / "tests/vectors";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<KnownAnswer> all;
  for (const auto& path : paths) read_file(path, all);
  return all;
}

}  // namespace

const std::vector<KnownAnswer>& known_answers() {
  static const std::vector<KnownAnswer> all = read_all();
  return all;
}

}  // namespace conelab::tests
