// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.Objects;

/**
 * Hardware that a driver found but does not offer, with the reason.
 *
 * <p>The runtime shows it to admins in an Event on the Node, in the log, as a metric, and on {@code /readyz}. A
 * different text counts as a change and is shown again, so the text should not vary from read to read.
 *
 * @param device names the hardware for people, for instance by a serial number or a PCI address; not empty
 * @param reason a sentence about what is wrong with it, and what to do; not empty
 */
public record LeftOut(String device, String reason) {

    /**
     * Checks that nothing is missing.
     *
     * @throws IllegalArgumentException if one of them is empty
     */
    public LeftOut {
        Objects.requireNonNull(device, "device");
        Objects.requireNonNull(reason, "reason");
        if (device.isBlank() || reason.isBlank()) {
            throw new IllegalArgumentException(
                    "LeftOut needs a device and a reason, not \"%s\" and \"%s\"".formatted(device, reason));
        }
    }
}
