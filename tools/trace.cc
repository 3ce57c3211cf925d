#include "tools/trace.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace isomer::cli {

namespace {

Json Event(const std::string& name, double start, double end, int row) {
  Json event = Json::Object();
  event.Set("name", name)
      .Set("ph", "X")
      .Set("ts", start)
      .Set("dur", end - start)
      .Set("pid", int64_t{0})
      .Set("tid", int64_t{row});
  return event;
}

Json RowName(const std::string& name, int row) {
  Json event = Json::Object(), arguments = Json::Object();
  arguments.Set("name", name);
  event.Set("name", "thread_name")
      .Set("ph", "M")
      .Set("pid", int64_t{0})
      .Set("tid", int64_t{row})
      .Set("args", std::move(arguments));
  return event;
}

}  // namespace

std::vector<TracedStep> TracedSteps(
    const cuda::Executor& executor, const std::vector<cuda::StepTime>& times,
    const std::vector<std::optional<cuda::StepSpan>>& spans) {
  std::vector<TracedStep> out(spans.size());
  for (const cuda::StepTime& t : times) {
    for (int i : t.steps) {
      out[i] = {absl::StrCat(t.family, " ", t.variant), t.signature, 0, t.us,
                spans[i]};
      if (executor.streams() > 1) {
        out[i].stream = executor.program().schedule.steps[i].stream;
      }
    }
  }
  return out;
}

Json TraceOf(const std::vector<TracedStep>& steps) {
  Json events = Json::Array();
  std::map<int, double> ended;  // by stream
  for (const TracedStep& s : steps) {
    const int row = 2 * s.stream;
    const auto [last, is_new] = ended.insert({s.stream, 0});
    if (is_new) {
      const std::string name = absl::StrCat("stream ", s.stream);
      events.Add(RowName(name, row));
      events.Add(RowName(name + ", set up early", row + 1));
    }
    const double start = s.span ? s.span->ready : last->second;
    const double end = s.span ? s.span->end : start + s.us;
    Json arguments = Json::Object(), event = Event(s.name, start, end, row);
    arguments.Set("kernel", s.kernel).Set("us by itself", s.us);
    if (!s.span) arguments.Set("when", "not known: a library's");
    events.Add(std::move(event.Set("args", std::move(arguments))));
    if (s.span && s.span->start < s.span->ready) {
      events.Add(Event(s.name, s.span->start, s.span->ready, row + 1));
    }
    last->second = end;
  }
  return std::move(Json::Object().Set("traceEvents", std::move(events)));
}

}  // namespace isomer::cli
