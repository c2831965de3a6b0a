// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
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
 *     not report them
 */
public record KubernetesServer(
        String version, String apiServer, @Nullable Map<String, Boolean> featureGates) {

    /** The beginning of the lines of kube-apiserver's metrics that report feature gates. */
    static final String GATES = "kubernetes_feature_enabled{";

    private static final Pattern GATE = Pattern.compile(Pattern.quote(GATES) + "name=\"(\\w+)\"[^}]*} ([01])");

    public static KubernetesServer embedded(FeatureGates gates) {
        Map<String, Boolean> changed = new TreeMap<>();
        gates.changed().forEach((gate, on) -> changed.put(gate.text(), on));
        return new KubernetesServer("1." + gates.version().minor(), "embedded", changed);
    }

    /** A real one, with the gates from the lines of its metrics; without these, its gates are not known. */
    static KubernetesServer real(String version, KubernetesVersion release, List<String> metrics) {
        Map<String, Boolean> gates = new TreeMap<>();
        metrics.stream()
                .map(GATE::matcher)
                .filter(Matcher::matches)
                .forEach(line -> gates.put(line.group(1), line.group(2).equals("1")));
        if (gates.isEmpty()) {
            return new KubernetesServer(version, "real", null);
        }
        Map<String, Boolean> defaults = Arrays.stream(FeatureGate.values())
                .collect(Collectors.toMap(FeatureGate::text, gate -> gate.defaultIn(release)));
        gates.keySet().retainAll(defaults.keySet());
        gates.entrySet().removeAll(defaults.entrySet());
        return new KubernetesServer(version, "real", gates);
    }

    /** The server in one line, for the top of reports. */
    public String text() {
        Map<String, Boolean> changed = featureGates;
        String gates = changed == null
                ? "not known, because /metrics can't be read"
                : changed.isEmpty()
                        ? "the release's defaults"
                        : changed.entrySet().stream().map(Object::toString).collect(Collectors.joining(", "));
        return "Kubernetes %s, %s API server; feature gates: %s".formatted(version, apiServer, gates);
    }
}
