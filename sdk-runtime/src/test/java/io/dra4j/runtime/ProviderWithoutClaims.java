// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;

/** A provider for tests that prepare nothing; they override what they call. */
public class ProviderWithoutClaims implements DeviceProvider {

    @Override
    public Inventory inventory() throws Exception {
        return Inventory.of();
    }

    @Override
    public PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void unprepare(HeldClaim claim, ClaimContext context) {
        throw new UnsupportedOperationException();
    }

    /** One that has what it needs from its start alone, which fails. */
    static final class NeverStarted extends ProviderWithoutClaims {
        int closed;

        @Override
        public void start(DriverContext context) {
            throw new DraException("no bus");
        }

        @Override
        public Inventory inventory() {
            throw new NullPointerException("bus");
        }

        @Override
        public void close() {
            closed++;
            throw new NullPointerException("watch");
        }
    }
}
