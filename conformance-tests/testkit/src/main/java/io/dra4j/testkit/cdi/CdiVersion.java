// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cdi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;

/**
 * The releases of the CDI specification, and the least one that a spec needs.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI, released versions</a>
 */
public final class CdiVersion {

    /** All releases, oldest first. */
    static final List<String> KNOWN =
            List.of("0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0");

    private CdiVersion() {}

    /** The least version that a spec may name, and the field that needs it, in words. */
    public record Least(String version, String because) {

        private Least or(String other, boolean needed, String reason) {
            return needed && compare(other, version) > 0 ? new Least(other, reason) : this;
        }
    }

    /** Returns the problem of the {@code cdiVersion} of a spec, for runtimes that read up to a version. */
    public static Optional<String> problem(JsonNode spec, String newest) {
        String version = spec.path("cdiVersion").asText();
        if (!KNOWN.contains(version)) {
            return Optional.of("cdiVersion \"%s\" is unknown".formatted(version));
        }
        Least least = least(spec);
        if (compare(version, least.version()) < 0) {
            return Optional.of(
                    "cdiVersion %s is too low: %s needs %s".formatted(version, least.because(), least.version()));
        }
        return compare(version, newest) > 0
                ? Optional.of(
                        "cdiVersion %s is newer than %s, the newest that the runtime reads".formatted(version, newest))
                : Optional.empty();
    }

    public static boolean isKnown(String version) {
        return KNOWN.contains(version);
    }

    private static int compare(String one, String other) {
        return Integer.compare(KNOWN.indexOf(one), KNOWN.indexOf(other));
    }

    /** The least version that the fields of a spec need. */
    public static Least least(JsonNode spec) {
        String kind = spec.path("kind").asText();
        boolean dotted = kind.indexOf('.', kind.indexOf('/')) > 0;
        Least least = new Least("0.3.0", "every spec")
                .or("0.6.0", has(spec, "annotations"), "annotations")
                .or("0.6.0", dotted, "a dot in the class");
        least = ofEdits(least, spec.path("containerEdits"));
        for (JsonNode device : spec.path("devices")) {
            String name = device.path("name").asText();
            boolean digit = !name.isEmpty() && !Character.isLetter(name.charAt(0));
            String named = "the device name " + name + ", which begins with a digit,";
            least = least.or("0.6.0", has(device, "annotations"), "annotations of a device");
            least = ofEdits(least.or("0.5.0", digit, named), device.path("containerEdits"));
        }
        return least;
    }

    private static Least ofEdits(Least before, JsonNode edits) {
        JsonNode rdt = edits.path("intelRdt");
        return before.or("0.4.0", inAny(edits.path("mounts"), "type"), "the type of a mount")
                .or("0.5.0", inAny(edits.path("deviceNodes"), "hostPath"), "hostPath of a node")
                .or("0.7.0", has(edits, "intelRdt"), "intelRdt")
                .or("0.7.0", has(edits, "additionalGids"), "additionalGids")
                .or("1.1.0", has(edits, "netDevices"), "netDevices")
                .or("1.1.0", has(rdt, "schemata"), "schemata")
                .or("1.1.0", has(rdt, "enableMonitoring"), "enableMonitoring");
    }

    private static boolean inAny(JsonNode list, String field) {
        return list.valueStream().anyMatch(one -> has(one, field));
    }

    private static boolean has(JsonNode object, String field) {
        JsonNode value = object.path(field);
        boolean empty =
                value.isContainerNode() ? value.isEmpty() : value.asText().isEmpty();
        return !value.isMissingNode() && !value.isNull() && !empty;
    }
}
