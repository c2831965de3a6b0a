// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.List;
import java.util.Objects;

/**
 * A configuration as it applies to a device, with its origin.
 *
 * <p>Devices that share one entry have equal source and index: use these two as the key of something that serves a
 * whole entry, such as a sharing daemon. With a {@linkplain ConfigType.Builder#merge merge} they are those of the last
 * entry that applies, and the values of two devices may differ: the value belongs in the key, too.
 *
 * @param value the decoded, defaulted, normalized and validated configuration
 * @param source where it came from
 * @param index the entry's place in the allocation's list of configurations; -1 for defaults
 * @param requests the requests and subrequests that the entry names; empty for all
 * @param <T> the vendor's type
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-claim-v1/">
 *     ResourceClaim, status.allocation.devices.config</a>
 */
public record AppliedConfig<T>(T value, ConfigSource source, int index, List<String> requests) {

    /** Copies the list. */
    public AppliedConfig {
        Objects.requireNonNull(value, "value");
        Objects.requireNonNull(source, "source");
        requests = List.copyOf(Objects.requireNonNull(requests, "requests"));
    }
}
