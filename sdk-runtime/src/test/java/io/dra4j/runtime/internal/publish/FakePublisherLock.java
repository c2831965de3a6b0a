// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.util.Optional;
import java.util.function.Supplier;

/** The right to write slices, which another process has as long as the test wants. */
final class FakePublisherLock implements Supplier<Optional<Turn>> {

    boolean othersHaveIt;
    int requested;
    int takenAndNotGivenBack;

    @Override
    public Optional<Turn> get() {
        requested++;
        if (othersHaveIt) {
            return Optional.empty();
        }
        takenAndNotGivenBack++;
        return Optional.of(new Turn(() -> othersHaveIt, () -> takenAndNotGivenBack--));
    }
}
