// The replay radio: a SoapySDR device that plays a file, a tone or a count, and fails on request.
//
//   SoapySDRUtil --probe="driver=replay,file=capture.cu8"
//
// What it plays      file=PATH, format=cf32|cu8 (else from the name), tone=HZ (default 10k), count=1: sample k is
//                    ((k mod 65536) + j (k div 65536 mod 65536)) / 65536, so that a reader sees what it lost
// How                pace=0 as fast as it is read; buffer=SECONDS held for a slow reader (0.5), then it overflows;
//                    mtu=N samples a read at most; short=N 1..N samples a read; time=1 hardware time, time0=NS
// Faults             KIND_every=SAMPLES, KIND_times=N (1), KIND_lose=SAMPLES (0), with KIND one of
//                    overflow, timeout, corruption, timeerror
// Loss               lose_after=SAMPLES, lose_how=error|silence|throw, back_after=SECONDS, lose_times=N (1);
//                    present=PATH: the device is there while that file is
#include <SoapySDR/Device.hpp>
#include <SoapySDR/Formats.hpp>
#include <SoapySDR/Registry.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using Sample = std::complex<float>;
using SoapySDR::Kwargs;

static std::string text(const Kwargs &args, const std::string &key, const std::string &otherwise = "") {
    const auto found = args.find(key);
    return found == args.end() ? otherwise : found->second;
}

static double number(const Kwargs &args, const std::string &key, double otherwise) {
    const auto found = args.find(key);
    return found == args.end() ? otherwise : std::stod(found->second);
}

// What outlives a device that is lost and made again.
struct Fate {
    Clock::time_point back;
    int losses = 0;
};
static std::mutex fate_mutex;
static std::map<std::string, Fate> fates;  // by serial

static bool absent(const Kwargs &args) {
    const auto path = text(args, "present");
    if (!path.empty() && access(path.c_str(), F_OK) != 0) return true;
    std::lock_guard<std::mutex> lock(fate_mutex);
    const auto fate = fates.find(text(args, "serial", "1"));
    return fate != fates.end() && Clock::now() < fate->second.back;
}

struct Fault {
    int code;
    long long every, next, lose;
    int left;
};

class ReplayRadio : public SoapySDR::Device {
  public:
    explicit ReplayRadio(const Kwargs &given) : args(given) {
        if (absent(args)) throw std::runtime_error("the replay radio is unplugged");
        load();
        const std::pair<const char *, int> kinds[] = {{"overflow", SOAPY_SDR_OVERFLOW}, {"timeout", SOAPY_SDR_TIMEOUT},
            {"corruption", SOAPY_SDR_CORRUPTION}, {"timeerror", SOAPY_SDR_TIME_ERROR}};
        for (const auto &kind : kinds) {
            const std::string name = kind.first;
            const auto every = (long long)number(args, name + "_every", 0);
            if (every > 0)
                faults.push_back({kind.second, every, every, (long long)number(args, name + "_lose", 0),
                    (int)number(args, name + "_times", 1)});
        }
    }

    std::string getDriverKey() const override { return "replay"; }
    std::string getHardwareKey() const override { return "replay radio"; }
    Kwargs getHardwareInfo() const override { return {{"serial", text(args, "serial", "1")}}; }
    size_t getNumChannels(const int direction) const override { return direction == SOAPY_SDR_RX ? 2 : 0; }
    std::vector<std::string> getStreamFormats(const int, const size_t) const override { return {SOAPY_SDR_CF32}; }
    std::string getNativeStreamFormat(const int, const size_t, double &fullScale) const override {
        fullScale = 1;
        return SOAPY_SDR_CF32;
    }

    std::vector<std::string> listAntennas(const int, const size_t) const override { return {"RX", "AUX"}; }
    void setAntenna(const int, const size_t, const std::string &name) override { antenna = name; }
    std::string getAntenna(const int, const size_t) const override { return antenna; }

    std::vector<std::string> listGains(const int, const size_t) const override { return {"LNA", "VGA"}; }
    bool hasGainMode(const int, const size_t) const override { return true; }
    void setGainMode(const int, const size_t, const bool automatic) override { agc = automatic; }
    bool getGainMode(const int, const size_t) const override { return agc; }
    using SoapySDR::Device::setGain;
    using SoapySDR::Device::getGain;
    using SoapySDR::Device::getGainRange;
    void setGain(const int, const size_t, const std::string &name, const double db) override {
        std::lock_guard<std::mutex> lock(mutex);
        gains[name] = db;
    }
    double getGain(const int, const size_t, const std::string &name) const override {
        std::lock_guard<std::mutex> lock(mutex);
        return gains.at(name);
    }
    SoapySDR::Range getGainRange(const int, const size_t, const std::string &name) const override {
        return name == "LNA" ? SoapySDR::Range(0, 40, 8) : SoapySDR::Range(0, 62, 2);
    }

    using SoapySDR::Device::setFrequency;
    using SoapySDR::Device::getFrequency;
    using SoapySDR::Device::getFrequencyRange;
    std::vector<std::string> listFrequencies(const int, const size_t) const override { return {"RF"}; }
    void setFrequency(const int, const size_t, const std::string &, const double hz, const Kwargs &) override { freq = hz; }
    double getFrequency(const int, const size_t, const std::string &) const override { return freq; }
    SoapySDR::RangeList getFrequencyRange(const int, const size_t, const std::string &) const override {
        return {{24e6, 1766e6}};
    }
    bool hasFrequencyCorrection(const int, const size_t) const override { return true; }
    void setFrequencyCorrection(const int, const size_t, const double value) override { ppm = value; }
    double getFrequencyCorrection(const int, const size_t) const override { return ppm; }

    void setSampleRate(const int, const size_t, const double hz) override { rate = hz; }
    double getSampleRate(const int, const size_t) const override { return rate; }
    SoapySDR::RangeList getSampleRateRange(const int, const size_t) const override {
        return {{225e3, 300e3}, {900e3, 3.2e6}, {20e6, 20e6}};
    }
    void setBandwidth(const int, const size_t, const double hz) override { bandwidth = hz; }
    double getBandwidth(const int, const size_t) const override { return bandwidth; }
    SoapySDR::RangeList getBandwidthRange(const int, const size_t) const override { return {{200e3, 8e6}}; }

    SoapySDR::ArgInfoList getSettingInfo() const override {
        SoapySDR::ArgInfo info;
        info.key = "biastee";
        info.value = "false";
        info.type = SoapySDR::ArgInfo::BOOL;
        return {info};
    }
    SoapySDR::ArgInfoList getSettingInfo(const int, const size_t) const override {
        SoapySDR::ArgInfo info;
        info.key = "notch";
        info.value = "off";
        info.type = SoapySDR::ArgInfo::STRING;
        info.options = {"off", "fm", "dab"};
        return {info};
    }
    void writeSetting(const std::string &key, const std::string &value) override { settings[key] = value; }
    std::string readSetting(const std::string &key) const override { return settings.at(key); }
    void writeSetting(const int, const size_t, const std::string &key, const std::string &value) override {
        settings[key] = value;
    }
    std::string readSetting(const int, const size_t, const std::string &key) const override { return settings.at(key); }

    bool hasHardwareTime(const std::string &) const override { return timed; }
    long long getHardwareTime(const std::string &) const override { return time_of(position); }

    SoapySDR::Stream *setupStream(const int direction, const std::string &format, const std::vector<size_t> &,
        const Kwargs &) override {
        if (direction != SOAPY_SDR_RX || format != SOAPY_SDR_CF32)
            throw std::runtime_error("the replay radio receives CF32 only");
        return reinterpret_cast<SoapySDR::Stream *>(this);
    }
    void closeStream(SoapySDR::Stream *) override {}
    size_t getStreamMTU(SoapySDR::Stream *) const override { return mtu; }
    int activateStream(SoapySDR::Stream *, const int, const long long, const size_t) override {
        if (!active) began = Clock::now() - samples_time(position);
        active = true;
        return 0;
    }
    int deactivateStream(SoapySDR::Stream *, const int, const long long) override {
        active = false;
        return 0;
    }

    int readStream(SoapySDR::Stream *, void *const *buffs, const size_t wanted, int &flags, long long &timeNs,
        const long timeoutUs) override {
        const auto deadline = Clock::now() + std::chrono::microseconds(timeoutUs);
        flags = 0;
        if (!active) {  // SoapyRemote reads before it activates
            std::this_thread::sleep_until(deadline);
            return SOAPY_SDR_TIMEOUT;
        }
        if (lost()) {
            if (text(args, "lose_how") == "throw") throw std::runtime_error("the replay radio was unplugged");
            if (text(args, "lose_how") != "silence") return SOAPY_SDR_STREAM_ERROR;
            std::this_thread::sleep_until(deadline);
            return SOAPY_SDR_TIMEOUT;
        }
        for (auto &fault : faults) {
            if (fault.left == 0 || position < fault.next) continue;
            fault.left--;
            position += fault.lose;
            fault.next = position + fault.every;
            return fault.code;
        }

        long long count = std::min<long long>(wanted, mtu);
        if (most > 0) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            count = std::min(count, 1 + (long long)((seed >> 33) % most));
        }
        for (const auto &fault : faults)  // a fault falls exactly where it was asked for
            if (fault.left > 0) count = std::min(count, fault.next - position);
        if (losing()) count = std::min(count, lose_after - position);

        if (paced) {
            const auto behind = due() - position;
            if (behind > buffer_s * rate) {
                position += behind;
                return SOAPY_SDR_OVERFLOW;
            }
            const auto ready = began + samples_time(position + count);
            std::this_thread::sleep_until(std::min(ready, deadline));
            if (ready > deadline) count = std::min(count, due() - position);
            if (count <= 0) return SOAPY_SDR_TIMEOUT;
        }
        fill(static_cast<Sample *>(buffs[0]), count);
        if (timed) {
            flags = SOAPY_SDR_HAS_TIME;
            timeNs = time_of(position);
        }
        position += count;
        return (int)count;
    }

  private:
    void load() {
        const auto path = text(args, "file");
        if (path.empty()) return;
        std::ifstream file(path, std::ios::binary);
        if (!file) throw std::runtime_error("the replay radio cannot read " + path);
        const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        const bool cu8 = text(args, "format", path.substr(path.rfind('.') + 1)) == "cu8";
        played.resize(bytes.size() / (cu8 ? 2 : sizeof(Sample)));
        if (played.empty()) throw std::runtime_error("the replay radio finds no samples in " + path);
        if (!cu8) std::memcpy(played.data(), bytes.data(), played.size() * sizeof(Sample));
        else
            for (size_t k = 0; k < played.size(); k++)
                played[k] = {((unsigned char)bytes[2 * k] - 127.5f) / 127.5f, ((unsigned char)bytes[2 * k + 1] - 127.5f) / 127.5f};
    }

    void turn() {  // a whole number of turns in 65,536 samples, so that the table repeats without a step
        turned = rate;
        played.resize(65536);
        const double turns = std::round(number(args, "tone", 10e3) / turned * played.size());
        for (size_t k = 0; k < played.size(); k++)
            played[k] = std::polar(0.5f, (float)(2 * M_PI * std::fmod(turns * k / played.size(), 1.0)));
    }

    void fill(Sample *out, long long count) {
        if (counting) {
            for (long long k = position; k < position + count; k++)
                *out++ = {(k & 0xffff) / 65536.0f, ((k >> 16) & 0xffff) / 65536.0f};
            return;
        }
        if (toned && turned != rate) turn();
        for (long long done = 0; done < count;) {
            const auto from = (position + done) % played.size();
            const auto some = std::min<long long>(count - done, played.size() - from);
            std::memcpy(out + done, played.data() + from, some * sizeof(Sample));
            done += some;
        }
    }

    Clock::duration samples_time(long long count) const {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count / rate));
    }
    long long due() const {
        return (long long)(std::chrono::duration<double>(Clock::now() - began).count() * rate);
    }
    long long time_of(long long at) const {
        return time0 + (long long)std::llround(at * (1e9 / rate));
    }

    bool losing() const {
        if (lose_after <= 0) return false;
        std::lock_guard<std::mutex> lock(fate_mutex);
        return fates[text(args, "serial", "1")].losses < number(args, "lose_times", 1);
    }
    bool lost() {
        if (!gone && losing() && position >= lose_after) {
            std::lock_guard<std::mutex> lock(fate_mutex);
            auto &fate = fates[text(args, "serial", "1")];
            fate.losses++;
            fate.back = Clock::now() + std::chrono::milliseconds((long long)(1000 * number(args, "back_after", 0.5)));
            gone = true;
        }
        gone = gone || absent(args);
        return gone;  // once gone, this handle stays dead: a radio that comes back is a new one
    }

    const Kwargs args;
    const bool counting = text(args, "count") == "1", toned = text(args, "file").empty();
    const bool paced = number(args, "pace", 1) != 0, timed = number(args, "time", 0) != 0;
    const double buffer_s = number(args, "buffer", 0.5);
    const long long mtu = (long long)number(args, "mtu", 16384), most = (long long)number(args, "short", 0);
    const long long time0 = std::stoll(text(args, "time0", "0"));
    const long long lose_after = (long long)number(args, "lose_after", 0);
    std::vector<Sample> played;
    std::vector<Fault> faults;
    mutable std::mutex mutex;
    std::map<std::string, double> gains{{"LNA", 0}, {"VGA", 0}};
    std::map<std::string, std::string> settings;
    std::string antenna = "RX";
    std::atomic<double> freq{100e6}, rate{2.4e6}, bandwidth{0}, ppm{0};
    std::atomic<bool> agc{false}, active{false};
    std::atomic<long long> position{0};
    Clock::time_point began;
    double turned = 0;
    unsigned long long seed = 1;
    bool gone = false;
};

// Found only when asked for, or where WAVETELL_REPLAY_RADIO is set: it is no radio of the machine's.
static SoapySDR::KwargsList find(const Kwargs &args) {
    if (text(args, "driver") != "replay" && !std::getenv("WAVETELL_REPLAY_RADIO")) return {};
    if (!text(args, "driver").empty() && text(args, "driver") != "replay") return {};
    if (absent(args)) return {};
    Kwargs found(args);
    found["driver"] = "replay";
    found["label"] = "replay radio";
    if (found.count("serial") == 0) found["serial"] = "1";
    return {found};
}

static SoapySDR::Device *make(const Kwargs &args) { return new ReplayRadio(args); }

static SoapySDR::Registry registry("replay", &find, &make, SOAPY_SDR_ABI_VERSION);
