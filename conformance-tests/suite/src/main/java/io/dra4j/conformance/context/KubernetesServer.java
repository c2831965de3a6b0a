// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.cluster.Cluster;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The Kubernetes of a run.
 *
 * @param version the release that the embedded API server behaves as, such as {@code 1.38}, or the version that a real
 *     one reported
 * @param apiServer {@code embedded} or {@code real}
 * @param featureGates the gates of DRA that are not at the defaults of the release, by name; null if a real server does
 *     not tell
 */
public record KubernetesServer(
        String version, String apiServer, @Nullable Map<String, Boolean> featureGates) {

    private static final String METRICS = "/metrics";

    /** A line of kube-apiserver's metrics: the state of a gate. */
    private static final Pattern GATE =
            Pattern.compile("(?m)^kubernetes_feature_enabled\\{name=\"(\\w+)\"[^}]*} ([01])$");

    /** The embedded one with these gates. */
    public static KubernetesServer embedded(FeatureGates gates) {
        return new KubernetesServer("1." + gates.version().minor(), "embedded", changed(gates));
    }

    /** A real one: its metrics have the gates. */
    static KubernetesServer real(String version, int minor, Cluster cluster) {
        Map<String, Boolean> reported = new HashMap<>();
        GATE.matcher(cluster.text(METRICS).orElse(""))
                .results()
                .forEach(line -> reported.put(line.group(1), line.group(2).equals("1")));
        return new KubernetesServer(version, "real", reported.isEmpty() ? null : changed(reported, minor));
    }

    private static Map<String, Boolean> changed(FeatureGates gates) {
        Map<String, Boolean> changed = new TreeMap<>();
        gates.changed().forEach((gate, on) -> changed.put(gate.text(), on));
        return changed;
    }

    private static Map<String, Boolean> changed(Map<String, Boolean> reported, int minor) {
        Map<String, Boolean> changed = new TreeMap<>();
        for (FeatureGate gate : FeatureGate.values()) {
            Boolean on = reported.get(gate.text());
            if (on != null && on != gate.defaultIn(KubernetesVersion.nearest(minor))) {
                changed.put(gate.text(), on);
            }
        }
        return changed;
    }

    /** The server in a line, for the top of reports. */
    public String text() {
        Map<String, Boolean> changed = featureGates;
        String gates = changed == null
                ? "not known, because " + METRICS + " can't be read"
                : changed.isEmpty()
                        ? "the release's defaults"
                        : changed.entrySet().stream().map(Object::toString).collect(Collectors.joining(", "));
        return "Kubernetes %s, %s API server; feature gates: %s".formatted(version, apiServer, gates);
    }
}
