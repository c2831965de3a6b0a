// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverUnusable;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.PluginInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Start, stop and kill of the driver of a test context. */
public final class DriverControl implements AutoCloseable {

    private static final int MOST_WARNINGS = 5;

    private final DriverAdapter adapter;
    private final Place place;
    private final Supplier<FakeKubelet> kubelet;
    private final Timeouts timeouts;
    private final Transcript transcript;
    private final Measurements measurements;
    private final Map<Instance, Place> instances = new LinkedHashMap<>(); // guarded by this
    private boolean closed; // guarded by this
    private @Nullable Instance current;
    private long begun;
    private Instant started = Instant.EPOCH;
    private volatile boolean atStandardPaths;

    DriverControl(
            DriverAdapter adapter,
            Place place,
            Supplier<FakeKubelet> kubelet,
            Timeouts timeouts,
            Transcript transcript,
            Measurements measurements) {
        this.adapter = adapter;
        this.place = place;
        this.kubelet = kubelet;
        this.timeouts = timeouts;
        this.transcript = transcript;
        this.measurements = measurements;
    }

    public DriverAdapter adapter() {
        return adapter;
    }

    /** Starts the driver, and waits until the kubelet has registered it; DriverUnusable if it ends or is late. */
    public Instance start() {
        boolean mayRun = !adapter.runsAnywhere() && current == null; // and be registered since the kubelet started
        int before = mayRun ? 0 : kubelet.get().events().size();
        Instance instance = launch(Map.of());
        current = instance;
        awaitRegistered(instance, before);
        return instance;
    }

    /** Starts one more instance, and does not wait; alongside another, it gets its own free port. */
    public synchronized Instance launch(Map<String, String> environment) {
        transcript.note("start the driver " + environment);
        begun = place.log().toFile().length();
        started = Instant.now();
        boolean alone = instances.keySet().stream().noneMatch(Instance::isAlive);
        return launch(adapter, alone ? place : place.withAnotherPort(), environment);
    }

    /** Starts another driver, or at another place, and does not wait; it also ends with this test context. */
    public synchronized Instance launch(DriverAdapter other, Place own, Map<String, String> environment) {
        requireOpen();
        Instance instance = other.start(own, environment);
        instances.put(instance, own);
        return instance;
    }

    /** Waits for a registration after the first {@code before} events; DriverUnusable at an end or a timeout. */
    public void awaitRegistered(Instance instance, int before) {
        Measurements.Wait wait = measurements.begin("time from the start to the registration", adapter.startTimeout());
        if (!registers(before, instance::isAlive, adapter.startTimeout())) {
            if (!instance.isAlive()) {
                throw new DriverUnusable("The driver ended" + status(instance) + lastWords());
            }
            wait.end(false);
            throw new DriverUnusable("The driver " + place.driver() + " has not registered within "
                    + adapter.startTimeout().toSeconds()
                    + " s; the kubelet saw "
                    + events(before)
                    + lastWords());
        }
        wait.end(true);
    }

    /** Returns whether the kubelet registers the driver in time, after the first {@code before} of its events. */
    public boolean registers(int before, Duration timeout) {
        return registers(before, () -> true, timeout);
    }

    private boolean registers(int before, BooleanSupplier runs, Duration timeout) {
        try {
            return kubelet.get().awaitRegistered(place.driver(), before, runs, timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** The path at which the kubelet finds a path of the driver. */
    Path outside(Path path) {
        Path outside = place.outside(path);
        atStandardPaths |= !outside.equals(path);
        return outside;
    }

    /** Returns whether the driver registered a socket at the standard path of a node. */
    public boolean isAtStandardPaths() {
        return atStandardPaths;
    }

    private String events(int before) {
        List<KubeletEvent> events = kubelet.get().events();
        return events.size() <= before
                ? "no socket"
                : events.subList(before, events.size()).stream()
                        .map(e -> e.kind() + " " + e.detail())
                        .collect(Collectors.joining(", "));
    }

    private static String status(Instance instance) {
        OptionalInt status = instance.awaitExit(Duration.ZERO);
        return status.isPresent() ? " with exit status " + status.getAsInt() : "";
    }

    private String lastWords() {
        return LastWords.of(place.logSince(begun), place, isAlive());
    }

    /** Returns whether there is anything in the kubelet's registry, of any kind. */
    public boolean hasEntry() {
        String[] entries = place.registry().toFile().list();
        return entries != null && entries.length > 0;
    }

    /** The last warnings of its log, or else its last line. */
    List<String> warnings() {
        return Warnings.last(
                log().lines()
                        .map(String::strip)
                        .filter(l -> !l.isEmpty())
                        .distinct()
                        .toList(),
                MOST_WARNINGS);
    }

    /** The instance that was started last by {@link #start}. */
    public Instance current() {
        Instance instance = current;
        if (instance == null) {
            throw new IllegalStateException("the driver was not started");
        }
        return instance;
    }

    /** Replaces {@code {NAME}} in a word as in the command of the current instance. */
    public synchronized String fill(String word) {
        return instances.getOrDefault(current(), place).fill(word);
    }

    /** The time of the last start; for an external driver, where it is unknown, a time long ago. */
    public Instant started() {
        return started;
    }

    public void use(Instance instance) {
        current = instance;
    }

    /** Returns the identity with which the driver registered. */
    public PluginInfo info() {
        return kubelet.get()
                .plugin(place.driver())
                .orElseThrow(() -> new Violation("the driver is no longer registered"));
    }

    /** Returns whether the current instance runs and is registered. */
    public boolean isReady() {
        Instance instance = current;
        return instance != null
                && instance.isAlive()
                && kubelet.get().plugin(place.driver()).isPresent();
    }

    /** Returns whether the current instance runs, registered or not. */
    public boolean isAlive() {
        Instance instance = current;
        return instance != null && instance.isAlive();
    }

    private synchronized void requireOpen() {
        if (closed) {
            throw new DriverUnusable("The run was ended");
        }
    }

    public synchronized void kill() {
        requireOpen();
        transcript.note("SIGKILL");
        current().kill();
    }

    /** Stops the current instance as a pod's termination does, and returns the exit status. */
    public int terminate() {
        Instance instance = current();
        synchronized (this) {
            requireOpen();
            transcript.note("SIGTERM");
            instance.terminate();
        }
        Duration limit = timeouts.times(Duration.ofSeconds(30));
        OptionalInt status = awaitExit(instance, limit);
        Violation.unless(status.isPresent())
                .about("DRA-SHUT-01")
                .because("SIGTERM did not end the driver within %d s", limit.toSeconds());
        return status.getAsInt();
    }

    /** Waits for the exit of an instance that was sent SIGTERM, and measures the time. */
    public OptionalInt awaitExit(Instance instance, Duration limit) {
        Measurements.Wait wait = measurements.begin("time from SIGTERM to the exit", limit);
        OptionalInt status = instance.awaitExit(limit);
        wait.end(status.isPresent());
        return status;
    }

    public Instance restartAfterKill() {
        kill();
        return restarted();
    }

    public Instance restart() {
        terminate();
        return restarted();
    }

    /** Restarts the driver where it must be able to start: a failure is the driver's fault. */
    public Instance restarted() {
        try {
            return start();
        } catch (DriverUnusable e) {
            throw new Violation("the restart failed: " + e.getMessage()).about("DRA-REG-07");
        }
    }

    public String fate() {
        Instance instance = current;
        return instance == null || instance.isAlive()
                ? "it is not registered"
                : "it ended" + status(instance) + lastWords();
    }

    /** Returns the end of the driver's log. */
    public String log() {
        return place.logSince(0);
    }

    /**
     * Ends what was started for this test context, and prevents further starts. An external driver keeps running, or is
     * started again.
     */
    @Override
    public synchronized void close() {
        closed = true;
        endAll();
        if (adapter.controlsProcess() && !adapter.runsAnywhere() && current != null && !isReady()) {
            if (isAlive()) {
                current().kill();
            }
            adapter.start(place, Map.of());
        }
    }

    /** Ends all that was started for this test context, even if one can't be killed; others can be started. */
    public synchronized void endAll() {
        if (adapter.runsAnywhere()) {
            Opened all = new Opened();
            instances.keySet().stream()
                    .filter(one -> one.isAlive() || one.pid().isPresent()) // one that has ended may have left others
                    .forEach(one -> all.onEnd(one::end));
            all.close();
        }
    }

    /** The lines of a driver's log that look like warnings or errors, in the forms that are common. */
    static final class Warnings {

        private static final Pattern WARNING = Pattern.compile(
                "^[WEF]\\d{4} \\d{2}:\\d{2}:\\d{2}.*" // klog
                        + "|(?i).*\\b(level|severity|lvl)\"?\\s*[=:]\\s*\"?(warn|error|err|fatal|crit|panic).*(?-i)"
                        + "|.*\\b(WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL)\\b.*|^panic: .*");

        private Warnings() {}

        /** The last warnings; the last line where none looks like a warning. */
        static List<String> last(List<String> lines, int most) {
            List<String> warnings =
                    lines.stream().filter(WARNING.asMatchPredicate()).toList();
            List<String> shown = warnings.isEmpty() ? lines : warnings;
            int count = warnings.isEmpty() ? 1 : most;
            return shown.subList(Math.max(0, shown.size() - count), shown.size());
        }
    }

    /** The line of a driver's log that explains why it ended or waits, and the setting that may help. */
    static final class LastWords {

        private static final Pattern PANIC = Pattern.compile("(^|.*\\s)(panic|fatal error): .*");
        private static final Pattern ERROR = Pattern.compile(
                "^[EF]\\d{4} \\d{2}:\\d{2}:\\d{2}.*" // klog
                        + "|.*\\b(?i:level|severity|lvl)\"?\\s*[=:]\\s*\"?(?i:error|err|fatal|crit|panic).*"
                        + "|.*\\b(ERROR|FATAL|SEVERE|CRITICAL)\\b.*"
                        + "|^(Exception in thread |Caused by: |thread '.*' panicked at ).*" // Java, Rust
                        + "|^[\\w.$]*(Exception|Error): .*"); // Python, and usage

        private record Hint(Pattern sign, Predicate<Place> mayHelp, String words) {}

        private static final String STANDARD_PATHS =
                "it uses the kubelet's directories of the host: give it {KUBELET_PLUGINS_DIRECTORY_PATH} and {KUBELET_REGISTRAR_DIRECTORY_PATH}, or set driver.process.standardPaths (--standard-paths), which needs root";

        private static final List<Hint> HINTS = List.of(
                new Hint(
                        Pattern.compile("(?i)\\bbind\\b.*no such file or directory"),
                        place -> true,
                        "it binds a socket in a directory that does not exist: if its DaemonSet creates it, name it in driver.process.makeDirectories"),
                new Hint(
                        Pattern.compile("KUBERNETES_SERVICE_HOST|(?i:in-?cluster ?config)|/secrets/kubernetes\\.io/"),
                        place -> !place.isInCluster(),
                        "it looks for the API server as in a cluster: give it {KUBECONFIG}, or set driver.process.inCluster (--in-cluster), which needs root"),
                new Hint(
                        Pattern.compile("nri\\.sock|\\bNRI\\b"),
                        place -> !Files.exists(place.nriSocket()),
                        "it registers with a container runtime: set driver.nri (--nri)"),
                new Hint(
                        Pattern.compile("/var/lib/kubelet/plugins"),
                        place -> !place.hasStandardPaths(),
                        STANDARD_PATHS));

        private LastWords() {}

        /**
         * The end of a message about a driver that is not registered, by its log since this start.
         *
         * @param alive whether it runs: its last line tells what it waits for
         */
        static String of(String log, Place place, boolean alive) {
            List<String> lines = log.lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .toList();
            StringBuilder words = new StringBuilder();
            if (!lines.isEmpty()) {
                String last = lines.get(lines.size() - 1);
                String telling = telling(lines);
                words.append(telling.equals(last) ? "" : "; it logged: " + telling);
                words.append(telling.equals(last) || alive ? "; its last line: " + last : "");
            }
            HINTS.stream()
                    .filter(hint -> hint.mayHelp().test(place))
                    .filter(hint -> hint.sign().matcher(log).find())
                    .map(Hint::words)
                    .forEach(hint -> words.append("; ").append(hint));
            if (place.hasStray() && words.indexOf(STANDARD_PATHS) < 0) {
                words.append("; ").append(STANDARD_PATHS);
            }
            return words.toString();
        }

        /** A panic, else the last error or exception, else the last line. */
        static String telling(List<String> lines) {
            int panic = last(lines, PANIC);
            int line = panic < 0 ? last(lines, ERROR) : panic;
            if (line < 0) {
                return lines.get(lines.size() - 1);
            }
            String told = lines.get(line);
            boolean continues = told.startsWith("thread '") && told.endsWith(":") && line + 1 < lines.size();
            return continues ? told + " " + lines.get(line + 1) : told;
        }

        private static int last(List<String> lines, Pattern pattern) {
            for (int i = lines.size() - 1; i >= 0; i--) {
                if (pattern.matcher(lines.get(i)).matches()) {
                    return i;
                }
            }
            return -1;
        }
    }
}
