// Each part of a buffer is written once, so a step waits for nothing but those
// before it that write what it reads.
#include "cuda/schedule.h"

#include <algorithm>
#include <limits>
#include <map>

namespace isomer::cuda {

namespace {

// Microseconds of a schedule that is made by estimates, which are too long for
// short kernels: of the shortest one, and what waiting for another stream takes
// longer than following a kernel of one's own.
constexpr double kShortest = 2, kCrossing = 1.5;
// As it measures: what a step waits longer that waits for other streams, for
// each of them, and because it is not set up while the one before it runs.
constexpr double kWait = 0.9;
// What streams have to save, as a share of the whole.
constexpr double kWorthwhile = 0.02;

// The steps that each step waits for.
std::vector<std::vector<int>> Dependencies(const Program& program) {
  std::vector<std::vector<int>> out(program.steps.size());
  std::map<int, std::vector<int>> writers;  // by buffer
  for (size_t i = 0; i < out.size(); ++i) {
    const Step& step = program.steps[i];
    for (int k = 0; k < static_cast<int>(step.arguments.size()); ++k) {
      std::vector<int>& all = writers[step.arguments[k]];
      if (k < step.reads) {
        out[i].insert(out[i].end(), all.begin(), all.end());
      } else {
        all.push_back(static_cast<int>(i));
      }
    }
    std::sort(out[i].begin(), out[i].end());
    out[i].erase(std::unique(out[i].begin(), out[i].end()), out[i].end());
  }
  return out;
}

class Scheduler {
 public:
  Scheduler(const Program& program, int max_streams)
      : program_(program), max_streams_(max_streams) {}

  Schedule Run() {
    const std::vector<std::vector<int>> needed = Dependencies(program_);
    for (size_t i = 0; i < needed.size(); ++i) Add(needed[i]);
    schedule_.streams = static_cast<int>(streams_.size());
    for (const Stream& s : streams_) {
      schedule_.us = std::max(schedule_.us, s.end);
    }
    return std::move(schedule_);
  }

 private:
  struct Stream {
    double end = 0;
    int last = -1;  // step
    int count = 0;  // of steps
  };

  void Add(const std::vector<int>& needed) {
    const auto step = static_cast<int>(schedule_.steps.size());
    Schedule::Place place{Earliest(needed)};
    const double start = Start(place.stream, needed);
    if (place.stream == NumStreams()) streams_.emplace_back();
    Stream& stream = streams_[place.stream];
    if (stream.last >= 0) AddEnded(stream.last, place);
    // Waiting for the latest may be waiting for the others.
    for (size_t k = needed.size(); k-- > 0;) {
      if (schedule_.Ended(needed[k], place)) continue;
      place.after.push_back(needed[k]);
      AddEnded(needed[k], place);
    }
    place.number = stream.count++;
    schedule_.steps.push_back(std::move(place));
    stream.end = start + std::max(program_.steps[step].us, kShortest);
    stream.last = step;
    ends_.push_back(stream.end);
  }

  // The stream on which a step starts first; one whose last step it needs, if
  // there are several.
  int Earliest(const std::vector<int>& needed) const {
    int best = 0;
    double best_start = 0;
    bool best_follows = false;
    for (int s = 0; s < std::min(NumStreams() + 1, max_streams_); ++s) {
      const double start = Start(s, needed);
      const bool follows =
          s < NumStreams() &&
          std::binary_search(needed.begin(), needed.end(), streams_[s].last);
      if (s == 0 || start < best_start ||
          (start == best_start && follows && !best_follows)) {
        best = s;
        best_start = start;
        best_follows = follows;
      }
    }
    return best;
  }

  double Start(int stream, const std::vector<int>& needed) const {
    double start = stream < NumStreams() ? streams_[stream].end
                   : stream == 0         ? 0
                                         : kCrossing;
    for (int n : needed) {
      const bool other = schedule_.steps[n].stream != stream;
      start = std::max(start, ends_[n] + (other ? kCrossing : 0));
    }
    return start;
  }

  int NumStreams() const { return static_cast<int>(streams_.size()); }

  // Notes that a step has ended, and with it all that ended before.
  void AddEnded(int step, Schedule::Place& place) const {
    const Schedule::Place& p = schedule_.steps[step];
    place.ended.resize(streams_.size());
    for (size_t s = 0; s < p.ended.size(); ++s) {
      place.ended[s] = std::max(place.ended[s], p.ended[s]);
    }
    place.ended[p.stream] = std::max(place.ended[p.stream], p.number + 1);
  }

  const Program& program_;
  const int max_streams_;
  Schedule schedule_;
  std::vector<Stream> streams_;
  std::vector<double> ends_;  // by step
};

// A schedule as it runs. While steps want more of the device than there is, all
// of them take longer.
class Simulation {
 public:
  Simulation(const Schedule& schedule, absl::Span<const Schedule::Load> loads)
      : schedule_(schedule),
        loads_(loads),
        lanes_(schedule.streams),
        ends_(loads.size(), kNever) {
    for (size_t i = 0; i < loads.size(); ++i) {
      lanes_[schedule.steps[i].stream].steps.push_back(static_cast<int>(i));
    }
    for (size_t s = 1; s < lanes_.size(); ++s) lanes_[s].end = kWait;
  }

  double Run() {
    for (double now = 0;;) {
      double wanted = 0, next = kNever;  // when a step starts or ends
      for (Lane& lane : lanes_) {
        if (!lane.busy) next = std::min(next, Start(lane, now));
        if (lane.busy) wanted += loads_[lane.steps[lane.next]].share;
      }
      const double slower = std::max(1.0, wanted);
      for (const Lane& lane : lanes_) {
        if (lane.busy) next = std::min(next, now + lane.left * slower);
      }
      if (next == kNever) return now;
      for (Lane& lane : lanes_) {
        if (!lane.busy) continue;
        if (now + lane.left * slower <= next) {
          ends_[lane.steps[lane.next++]] = lane.end = next;
          lane.busy = false;
        } else {
          lane.left -= (next - now) / slower;
        }
      }
      now = next;
    }
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Lane {
    std::vector<int> steps;
    size_t next = 0;
    double end = 0;  // of the step before
    bool busy = false;
    double left = 0;  // of the step, if nothing else ran
  };

  // Starts the next step, or says when it can start as far as that is known.
  double Start(Lane& lane, double now) const {
    if (lane.next == lane.steps.size()) return kNever;
    const int step = lane.steps[lane.next];
    const std::vector<int>& after = schedule_.steps[step].after;
    double start = lane.end;
    if (!after.empty() && lane.next > 0) start += kWait;
    for (int k : after) {
      start = std::max(start, ends_[k] + kWait * after.size());
    }
    if (start > now) return start;
    lane.busy = true;
    lane.left = loads_[step].us;
    return kNever;
  }

  const Schedule& schedule_;
  const absl::Span<const Schedule::Load> loads_;
  std::vector<Lane> lanes_;
  std::vector<double> ends_;  // by step
};

}  // namespace

Schedule MakeSchedule(const Program& program, int max_streams) {
  Schedule one = Scheduler(program, 1).Run();
  Schedule several = Scheduler(program, max_streams).Run();
  return several.us < (1 - kWorthwhile) * one.us ? several : one;
}

double Schedule::SideBySide(absl::Span<const Load> loads) const {
  double in_a_row = 0;
  for (const Load& l : loads) in_a_row += l.us;
  return std::min(in_a_row, Simulation(*this, loads).Run());
}

}  // namespace isomer::cuda
