// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.claim.Adoption.Predecessor;
import java.util.List;
import java.util.Set;

/** A take-over as the runtime's parts know it. */
record LeftClaims(TakeOver takeOver) implements Predecessor {

    @Override
    public boolean hasRun() {
        return takeOver.hasRun();
    }

    @Override
    public Set<String> claims(String bootId) {
        return takeOver.claims(bootId);
    }

    @Override
    public Inventory inventory() {
        return takeOver.inventory();
    }

    @Override
    public List<HeldDevice> lost(String uid) {
        return takeOver.lost(uid);
    }

    @Override
    public void check(String uid) {
        takeOver.check(uid);
    }

    @Override
    public PreparedClaim adopt(AllocatedClaim claim) {
        return takeOver.adopt(claim);
    }

    @Override
    public void finish() {
        takeOver.finish();
    }

    @Override
    public String alternative() {
        return takeOver.alternative();
    }
}
