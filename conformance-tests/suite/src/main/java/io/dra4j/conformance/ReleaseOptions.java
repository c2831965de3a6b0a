// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.settings.Settings.ApiServerSettings;
import io.dra4j.rules.FeatureGates;
import io.dra4j.testkit.settings.SettingsException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The release of an embedded API server, and its feature gates. */
final class ReleaseOptions {

    @Option(names = "--kubernetes", paramLabel = "VERSION")
    private @Nullable String kubernetes;

    @Option(names = "--release", hidden = true, description = "The old name of --kubernetes.")
    private @Nullable String release;

    @Option(names = "--feature-gates", split = ",", paramLabel = "GATE=true|false")
    private Map<String, Boolean> featureGates = new LinkedHashMap<>();

    /** Returns both, checked. */
    FeatureGates gates() {
        if (kubernetes != null && release != null) {
            throw new SettingsException("--release is the old name of --kubernetes: give one");
        }
        String given = kubernetes == null ? release : kubernetes;
        return ApiServerSettings.of(given == null ? "" : given, featureGates).gates();
    }
}
