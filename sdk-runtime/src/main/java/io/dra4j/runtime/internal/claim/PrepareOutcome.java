// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The outcome of one claim's preparation. */
public sealed interface PrepareOutcome {

    /** The claim is prepared; the devices are the kubelet's answer. */
    record Prepared(List<DeviceResult> devices) implements PrepareOutcome {
        public Prepared {
            devices = List.copyOf(devices);
        }
    }

    /**
     * The claim is not prepared; the kubelet shows the message to the pod's owner.
     *
     * <p>{@link OwnerText} has made it fit to be shown.
     */
    record Failed(String message) implements PrepareOutcome {
        public Failed(@Nullable String message) {
            this.message = OwnerText.of(message);
        }
    }

    /** One prepared device in the kubelet's response; requests are base names, without the subrequest. */
    record DeviceResult(
            List<String> requests,
            String pool,
            String device,
            List<String> cdiDeviceIds,
            @Nullable String shareId) {
        public DeviceResult {
            requests = List.copyOf(requests);
            cdiDeviceIds = List.copyOf(cdiDeviceIds);
        }
    }
}
