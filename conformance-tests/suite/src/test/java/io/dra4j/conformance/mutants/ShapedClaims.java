// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** Drivers that prepare claims of one shape alone, and say so to others. */
final class ShapedClaims {

    private ShapedClaims() {}

    /** Prepares claims that take all of its devices, as if they were one machine. */
    static final class AllOrNothing extends ClaimWork {
        AllOrNothing(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            int taken = results(claim).size();
            int all = driver.inventory.pools().values().stream().mapToInt(List::size).sum();
            if (taken != all) {
                throw new Refused(
                        "The claim has %d of %d devices: all are due".formatted(taken, all));
            }
            return super.plan(id, claim);
        }
    }

    /** Prepares claims in which each device has a configuration. */
    static final class Configured extends ClaimWork {
        Configured(BareDriver driver) {
            super(driver);
        }

        @Override
        void describe(ObjectNode held, JsonNode claim, JsonNode result) {
            if (driver.configs.applied(claim, result).isEmpty()) {
                throw new Refused("The claim has no configuration for " + result.path("device"));
            }
            super.describe(held, claim, result);
        }
    }
}
