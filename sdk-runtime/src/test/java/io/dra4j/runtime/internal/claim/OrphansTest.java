// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OrphansTest extends ScenarioNode {

    @BeforeEach
    void prepare() {
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
        node.prepare(A);
        node.prepare(B);
        provider.calls.clear();
        read.clear();
    }

    private void lookLater() {
        look(Duration.ofMinutes(5));
    }

    @Scenarios("orphans.txt")
    void claimsThatAreGoneAreUnprepared(String scenario) throws Exception {
        play(scenario);
    }

    @Scenarios("forgotten-claims.txt")
    void claimsThatTheKubeletForgotGiveTheirDevicesToTheNext(String scenario) throws Exception {
        play("unprepare b\ncalls : unprepare b\nkubelet b\ndeallocate a\nallocate b gpu-0\n" + scenario);
    }

    private void holdOthers(int count) {
        for (int i = 0; i < count; i++) {
            ClaimRef other = new ClaimRef("ns", "other-" + i, "uid-other-" + i);
            node.journal.put(ClaimRecord.damaged(other, "boot-1", List.of()));
            node.allocate(other, "gpu-0");
        }
    }

    @Test
    void theClaimThatAnotherIsRefusedForIsReadFirst() throws Exception {
        holdOthers(16);
        ClaimRef wants = new ClaimRef("ns", "wants", "uid-wants");
        node.allocate(wants, "gpu-0");
        assertThat(message(node.prepare(wants))).contains("gpu-0 is held by another claim");
        read.clear();
        CountDownLatch eight = new CountDownLatch(8);
        node.api.beforeRead = ref -> {
            read.add(ref);
            eight.countDown();
        };

        node.now = node.now.plus(Duration.ofMinutes(5));
        node.claims.maintain();

        assertThat(eight.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(read).hasSize(8).startsWith(A);
    }

    @Test
    void ofManyClaimsEightAreReadInFiveMinutesAndEachInItsTurnThoughOneHadNoAnswer() {
        holdOthers(16);
        node.api.failure = new ClusterException("503", 503, null);
        lookLater();
        node.api.failure = null;
        ClaimRef unanswered = read.remove(0);
        lookLater();
        assertThat(read).hasSize(8).doesNotHaveDuplicates().contains(unanswered);
        lookLater();
        assertThat(read).hasSize(16).doesNotHaveDuplicates();
        lookLater();

        assertThat(read).hasSize(24);
        assertThat(Set.copyOf(read)).hasSize(18);
    }
}
