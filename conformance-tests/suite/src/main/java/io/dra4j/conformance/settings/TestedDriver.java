// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.requirements.KnownNames;
import io.dra4j.testkit.cdi.CdiVersion;
import io.dra4j.testkit.driver.ExternalSettings;
import io.dra4j.testkit.driver.ProcessSettings;
import io.dra4j.testkit.settings.SettingsException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The driver under test.
 *
 * @param name its name, as in its slices' {@code spec.driver}
 * @param process how the suite runs it; for {@link Kind#PROCESS}
 * @param external the place of a driver that is run externally; for {@link Kind#EXTERNAL}
 * @param startTimeoutSeconds how long a start may take until the kubelet has registered it
 * @param seamlessUpgrade whether two instances with different {@code POD_UID} may run side by side
 * @param stateFiles a glob for the files in which it remembers claims; empty if it has none, or they are unknown
 * @param emptyWhenUnprepared globs for files that must be gone once no claim is prepared
 * @param hooks commands that change what the driver sees, by name
 * @param configs opaque configurations to try
 * @param claims classes and claim templates as its users write them: files with manifests, or the manifests themselves;
 * empty if a claim may have any of its devices
 * @param declares the capabilities that its vendor claims, by the names of their gates; {@value #NO_DEVICES} if it has
 * no devices on the node of the run, {@value #NO_CDI} if it prepares them without CDI
 * @param cdiVersion the newest CDI version that the runtimes of its nodes read
 * @param cdiDirectories the directories from which the runtimes of its nodes read CDI specs, in ascending order of
 * precedence; empty for the one that it is given, and with {@code standardPaths} for both standard ones
 * @param nri whether it is a plugin of the container runtime, by NRI, and needs one
 * @param metrics the URL of its metrics in Prometheus' text format, with the names of the place in braces as in a
 * command; empty if it has none
 */
public record TestedDriver(
        String name,
        Kind kind,
        @Nullable ProcessSettings process,
        @Nullable ExternalSettings external,
        int startTimeoutSeconds,
        boolean seamlessUpgrade,
        String stateFiles,
        List<String> emptyWhenUnprepared,
        Map<String, List<String>> hooks,
        ConfigSettings configs,
        List<JsonNode> claims,
        List<String> declares,
        String cdiVersion,
        List<String> cdiDirectories,
        boolean nri,
        String metrics) {

    public TestedDriver {
        if (name == null || name.isBlank()) {
            throw new SettingsException("driver.name is missing: the name in the driver's slices");
        }
        kind = kind == null ? Kind.PROCESS : kind;
        startTimeoutSeconds = startTimeoutSeconds == 0 ? 30 : startTimeoutSeconds;
        if (startTimeoutSeconds < 0) {
            throw new SettingsException("driver.startTimeoutSeconds must be at least 1, not " + startTimeoutSeconds);
        }
        stateFiles = stateFiles == null ? "" : stateFiles;
        emptyWhenUnprepared = emptyWhenUnprepared == null ? List.of() : List.copyOf(emptyWhenUnprepared);
        hooks = hooks == null ? Map.of() : Map.copyOf(hooks);
        HOOKS.requireAll("driver.hooks", hooks.keySet());
        configs = configs == null ? ConfigSettings.NONE : configs;
        claims = claims == null ? List.of() : List.copyOf(claims);
        declares = declares == null ? List.of() : List.copyOf(declares);
        CAPABILITIES.requireAll("driver.declares", declares);
        cdiVersion = cdiVersion == null || cdiVersion.isEmpty() ? "1.1.0" : cdiVersion;
        if (!CdiVersion.isKnown(cdiVersion)) {
            throw new SettingsException("driver.cdiVersion is unknown: " + cdiVersion);
        }
        cdiDirectories = cdiDirectories == null ? List.of() : List.copyOf(cdiDirectories);
        metrics = metrics == null ? "" : metrics;
        if (!metrics.matches("(https?://.+)?")) {
            throw new SettingsException(
                    "driver.metrics must be a URL such as http://127.0.0.1:{FREE_PORT}/metrics, not " + metrics);
        }
        if (kind == Kind.PROCESS && process == null) {
            throw new SettingsException("driver.process.command is missing: how to run the driver");
        }
        if (kind == Kind.EXTERNAL && external == null) {
            throw new SettingsException("driver.external is missing: where the driver runs");
        }
    }

    /** The declaration of a driver that has no devices on the node of the run. */
    public static final String NO_DEVICES = "no-devices";

    /** The declaration of a driver that prepares devices without CDI. */
    public static final String NO_CDI = "no-cdi";

    /** The declarations that have an effect. */
    private static final KnownNames CAPABILITIES = KnownNames.of(
            "adm", "multi", "ctr", "bind", "taint", "dst", "meta", "hc", "both", "api", "cdi", NO_DEVICES, NO_CDI);

    /** The commands that the suite runs, the last three only for an external driver. */
    private static final KnownNames HOOKS = KnownNames.of(
            "unplug", "plug", "plug-many", "fault", "recover", "reboot", "renumber", "old", "start", "stop", "kill");

    /** Declarations of what a driver does not have, and the labels of the gates that would be open. */
    public static final Map<String, String> LACKING = Map.of(NO_DEVICES, "dev1", NO_CDI, "cdi");

    /** Returns whether declarations say that a driver has nothing to try a profile with. */
    public static boolean lacks(List<String> declared, String profile) {
        return declared.contains(NO_DEVICES) || (declared.contains(NO_CDI) && profile.equals("cdi"));
    }

    /** Returns whether the vendor declares that it has no devices on the node of the run. */
    public boolean hasNoDevices() {
        return declares.contains(NO_DEVICES);
    }

    /** Returns whether its metrics are at a port that two instances can't have at the same time. */
    public boolean hasFixedPort() {
        return !metrics.isEmpty() && !metrics.contains("{FREE_PORT}");
    }

    /** Returns the time that a start may take until the kubelet has registered the driver. */
    public Duration startTimeout() {
        return Duration.ofSeconds(startTimeoutSeconds);
    }

    /** The ways to run a driver. */
    public enum Kind {
        /** The suite starts, stops and kills it. */
        @JsonProperty("process")
        PROCESS,
        /** It is run externally. */
        @JsonProperty("external")
        EXTERNAL,
        /** It is a provider in this JVM. */
        @JsonProperty("in-process")
        IN_PROCESS
    }
}
