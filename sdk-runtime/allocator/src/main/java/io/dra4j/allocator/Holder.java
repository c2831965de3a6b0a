// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.HeldDevice;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A claim that holds a device.
 *
 * @param claim its namespace and name
 */
public record Holder(String claim, HeldDevice device) {

    /** Lists the claims after the given words; empty if there are no claims. */
    static String text(String words, List<Holder> holders) {
        return holders.isEmpty()
                ? ""
                : holders.stream().map(Holder::claim).distinct().collect(Collectors.joining(", ", words, ""));
    }
}
