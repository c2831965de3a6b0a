// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Failed;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A node that has started, for each test. */
abstract class NodeFixture {

    static final ClaimRef A = new ClaimRef("ns", "a", "uid-a");
    static final ClaimRef B = new ClaimRef("ns", "b", "uid-b");

    @TempDir
    Path directory;

    final RecordingProvider provider = new RecordingProvider();

    @AutoClose
    NodeUnderTest node;

    @BeforeEach
    final void startNode() {
        node = new NodeUnderTest(directory, provider).start("boot-1");
    }

    static String message(PrepareOutcome outcome) {
        assertThat(outcome).isInstanceOf(Failed.class);
        return ((Failed) outcome).message();
    }
}
