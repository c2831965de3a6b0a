// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.audit;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Result;
import java.util.List;

/** The words that all findings share. */
final class Words {

    private Words() {}

    static String claim(ClaimRef ref) {
        return "claim %s/%s (%s)".formatted(ref.namespace(), ref.name(), ref.uid());
    }

    /** Returns findings, and the number of things that were looked at. */
    static Result result(List<Finding> findings, int looked, String noun) {
        return new Result(looked + " " + noun + (looked == 1 ? "" : "s"), findings);
    }
}
