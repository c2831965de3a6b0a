// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.util.List;

/** The result of one claim, as the kubelet receives it. */
record ClaimOutcome(List<Prepared> devices, String error) {

    static ClaimOutcome of(List<Prepared> devices) {
        return new ClaimOutcome(devices, "");
    }

    static ClaimOutcome failed(String error) {
        return new ClaimOutcome(List.of(), error);
    }

    /** A device of the claim; no share is an empty text. */
    record Prepared(List<String> requests, String pool, String device, List<String> cdi, String share) {

        Prepared withRequests(List<String> others) {
            return new Prepared(others, pool, device, cdi, share);
        }
    }
}
