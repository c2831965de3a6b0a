// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import java.util.List;
import org.slf4j.LoggerFactory;

/** The node of a provider that is not started, and adds no checks. */
record UnstartedNode(DeviceProvider provider) implements AuditedNode {

    /** Returns the provider's configurations, and closes it. */
    List<ConfigType<?>> configTypes() {
        try (this) {
            return ConfigCheck.declared(provider.configTypes());
        }
    }

    @Override
    public Inventory inventory(List<HeldClaim> held) {
        try {
            return provider.inventory();
        } catch (Exception | LinkageError e) { // of a provider that is not started
            throw new UnsupportedOperationException(
                    "the provider can't read its devices without being started: " + e, e);
        }
    }

    @Override
    public void close() {
        try {
            provider.close();
        } catch (Exception | LinkageError e) { // of a provider that was only asked
            LoggerFactory.getLogger(UnstartedNode.class).atDebug().setCause(e).log("The provider failed to close");
        }
    }
}
