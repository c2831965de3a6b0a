// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.rules.ClaimRules;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.SliceLimits;
import io.dra4j.rules.SliceRules;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The rules of Kubernetes for what a driver has written.
 *
 * <p>The API server applies them to each write, but not to what an update does not change: a slice
 * may be older than the server's release.
 *
 * @param release whose rules they are
 */
public record ApiRules(KubernetesVersion release) {

    /** The fields of a slice that select nodes, and the spec as a whole. */
    public static final Pattern NODE_SELECTION =
            Pattern.compile("spec(\\.(nodeName|nodeSelector|allNodes|perDeviceNodeSelection).*)?");

    public static final Pattern TAINTS = ofDevices("taints");

    public static final Pattern BINDING = ofDevices("binding(Failure)?Conditions");

    private static final String ENTRIES = "status.devices";

    /** The rules of the release of a test context's API server. */
    public static ApiRules of(TestContext context) {
        return new ApiRules(KubernetesVersion.nearest(context.release()));
    }

    private static Pattern ofDevices(String field) {
        return Pattern.compile("spec\\.devices\\[\\d+]\\." + field + "(\\[.*)?");
    }

    public SliceLimits limits() {
        return SliceLimits.of(release);
    }

    /** Requires that fields of a slice with such paths are valid; a violation has the errors of the API server. */
    public void requireValid(JsonNode slice, Pattern fields) {
        FieldErrors errors = new FieldErrors();
        new SliceRules(new FeatureGates(release, Map.of())).check(slice.path("spec"), errors);
        List<FieldError> found = errors.all().stream()
                .filter(error -> fields.matcher(error.field()).matches())
                .toList();
        Violation.unless(found.isEmpty())
                .because("slice %s is not valid in Kubernetes 1.%d: %s", SeenPools.name(slice), release.minor(), found);
    }

    /** Requires the same of an entry of {@code status.devices} of a claim. */
    public void requireValidEntry(JsonNode claim, JsonNode entry) {
        ObjectNode alone = claim.deepCopy();
        alone.withObject("/status").putArray("devices").add(entry);
        FieldErrors errors = new FieldErrors();
        ClaimRules.checkStatus(alone, alone, release, errors);
        List<FieldError> found = errors.all().stream()
                .filter(error -> error.field().startsWith(ENTRIES))
                .toList();
        Violation.unless(found.isEmpty()).because("the entry %s in status.devices is not valid: %s", entry, found);
    }
}
