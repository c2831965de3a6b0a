// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a prepare or unprepare call.
 *
 * @param requested the UIDs of the request, in order
 * @param results the driver's results by UID; empty if the call failed as a whole
 * @param status the gRPC status, for instance {@code OK} or {@code UNAVAILABLE: io exception}
 */
public record CallResult(List<String> requested, Map<String, ClaimResult> results, String status) {

    /** The status of a call that succeeded as a whole. */
    public static final String OK = "OK";

    /** The result of a call that was not made, because no claim needs it. */
    static final CallResult SKIPPED = new CallResult(List.of(), Map.of(), OK);

    public CallResult {
        requested = List.copyOf(requested);
        results = Map.copyOf(results);
    }

    /** Returns the complaint of a kubelet, if any. */
    public Optional<String> complaint() {
        if (!status.equals(OK)) {
            return Optional.of("the call failed: " + status);
        }
        List<String> complaints = new ArrayList<>();
        results.forEach((uid, result) -> {
            if (!requested.contains(uid)) {
                complaints.add("the driver answered for an unknown claim UID " + uid);
            } else if (!result.error().isEmpty()) {
                complaints.add("claim UID " + uid + ": " + result.error());
            }
        });
        long skipped = requested.stream()
                .distinct()
                .filter(uid -> !results.containsKey(uid))
                .count();
        if (skipped > 0) {
            complaints.add("the driver skipped " + skipped + " claims");
        }
        return complaints.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", complaints));
    }
}
