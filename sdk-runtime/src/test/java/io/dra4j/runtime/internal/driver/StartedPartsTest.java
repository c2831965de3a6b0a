// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.runtime.internal.driver.RunningPools.StartedParts;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartedPartsTest {

    /** A provider's close may throw anything, and the driver's locks and sockets must not remain. */
    @Test
    void areAllClosedInReverseWhateverOneThrows() {
        List<String> closed = new ArrayList<>();
        StartedParts parts = new StartedParts();
        parts.started(() -> closed.add("locks"));
        parts.started(() -> {
            throw new AssertionError("the provider");
        });
        parts.started(() -> closed.add("sockets"));

        parts.close();

        assertThat(closed).containsExactly("sockets", "locks");
    }
}
