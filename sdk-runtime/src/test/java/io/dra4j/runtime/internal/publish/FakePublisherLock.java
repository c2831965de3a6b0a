// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import java.util.Optional;

/** The right to write slices, which another process has as long as the test says so. */
final class FakePublisherLock implements SlicePublisher.PublisherLock {

    boolean othersHaveIt;
    int asked;
    int takenAndNotGivenBack;

    @Override
    public Optional<Runnable> tryTake() {
        asked++;
        if (othersHaveIt) {
            return Optional.empty();
        }
        takenAndNotGivenBack++;
        return Optional.of(() -> takenAndNotGivenBack--);
    }
}
