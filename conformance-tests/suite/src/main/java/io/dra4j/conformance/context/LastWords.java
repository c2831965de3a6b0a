// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.testkit.driver.Place;
import java.nio.file.Files;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The line of a driver's log that explains why it ended or waits, and the setting that may help. */
final class LastWords {

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
            new Hint(Pattern.compile("/var/lib/kubelet/plugins"), place -> !place.hasStandardPaths(), STANDARD_PATHS));

    private LastWords() {}

    /**
     * The end of a message about a driver that did not register, or has ended.
     *
     * @param log the log since this start
     * @param alive whether it runs: its last line tells what it waits for
     */
    static String of(String log, Place place, boolean alive) {
        List<String> lines =
                log.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
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
