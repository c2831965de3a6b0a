// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How a prepare or unprepare call ended.
 *
 * @param asked the UIDs of the request, in order
 * @param answers the driver's answers by UID; empty if the call failed as a whole
 * @param status the gRPC status, for instance {@code OK} or {@code UNAVAILABLE: io exception}
 */
public record CallResult(List<String> asked, Map<String, ClaimResult> answers, String status) {

    /** The status of a call that did not fail as a whole. */
    public static final String OK = "OK";

    public CallResult {
        asked = List.copyOf(asked);
        answers = Map.copyOf(answers);
    }

    /** Returns what a kubelet would complain of; empty if it would be content. */
    public Optional<String> complaint() {
        if (!status.equals(OK)) {
            return Optional.of("the call failed: " + status);
        }
        List<String> complaints = new ArrayList<>();
        answers.forEach(
                (uid, answer) -> {
                    if (!asked.contains(uid)) {
                        complaints.add("the driver answered for an unknown claim UID " + uid);
                    } else if (!answer.error().isEmpty()) {
                        complaints.add("claim UID " + uid + ": " + answer.error());
                    }
                });
        long skipped = asked.stream().distinct().filter(uid -> !answers.containsKey(uid)).count();
        if (skipped > 0) {
            complaints.add("the driver skipped " + skipped + " claims");
        }
        return complaints.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", complaints));
    }
}
