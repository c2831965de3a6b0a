// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.internal.cluster.ClusterException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A kubelet that lost its state within a boot, and the devices of the claims that it forgot. */
class ForgottenClaimsTest extends NodeFixture {

    private static final ClaimRef C = new ClaimRef("ns", "c", "uid-c");

    @BeforeEach
    void prepare() {
        node.allocate(A, "gpu-0");
        node.prepare(A);
        provider.calls.clear();
        node.kubeletHas(B);
        node.deallocate(A);
        node.allocate(B, "gpu-0");
    }

    private static Result device(String pool, String device) {
        return new Result(NodeUnderTest.DRIVER, "r/sub", pool, device, null, Map.of(), false, Set.of());
    }

    private enum Over {
        DEALLOCATED(node -> node.deallocate(A)),
        OF_ANOTHER_NODE(node -> node.allocate(A, device("other-node", "gpu-0"))),
        WITH_ANOTHER_DEVICE(node -> node.allocate(A, "gpu-1")),
        OF_ANOTHER_DRIVER(node -> node.allocate(
                A, new Result("other.example.com", "r", "node", "gpu-0", null, Map.of(), false, Set.of()))),
        DELETED(node -> node.api.objects.remove(A)),
        REPLACED(node -> {
            node.api.objects.remove(A);
            node.allocate(new ClaimRef(A.namespace(), A.name(), "uid-z"), "gpu-0");
        });

        private final Consumer<NodeUnderTest> change;

        Over(Consumer<NodeUnderTest> change) {
            this.change = change;
        }
    }

    @ParameterizedTest
    @EnumSource
    void giveTheirDevicesToTheNextClaimWhenTheyAreOver(Over over) throws Exception {
        over.change.accept(node);

        assertThat(node.prepare(B)).isInstanceOf(Prepared.class);

        assertThat(provider.calls).containsExactly("unprepare uid-a", "prepare uid-b");
        assertThat(node.specs()).containsExactly("uid-b");
    }

    @Test
    void giveTheirDevicesToOneClaimTogether() {
        node.allocate(C, "gpu-1");
        node.prepare(C);
        provider.calls.clear();
        node.deallocate(C);
        node.allocate(B, "gpu-0", "gpu-1");

        assertThat(node.prepare(B)).isInstanceOf(Prepared.class);

        assertThat(provider.calls).containsExactly("unprepare uid-a", "unprepare uid-c", "prepare uid-b");
    }

    @Test
    void keepTheirDevicesWhileTheyAreAllocatedAnyOfThem() {
        node.allocate(A, "gpu-1", "gpu-0");

        requireRefused("is held by another claim (UID uid-a…)");
    }

    @Test
    void keepTheirDevicesIfTheApiServerDoesNotSay() {
        node.api.beforeRead = ref -> {
            if (ref.equals(A)) {
                throw new ClusterException("GET resourceclaims/a: 503", 503, null);
            }
        };

        requireRefused("is held by another claim", "The kubelet has forgotten that claim", "resourceclaims/a: 503");
    }

    @Test
    void areNoneIfTheKubeletHasThemOrItsFileIsNotThereDamagedOrOfALaterVersion() throws Exception {
        AtomicInteger reads = new AtomicInteger();
        node.api.beforeRead = ref -> reads.addAndGet(ref.equals(A) ? 1 : 0);

        node.kubeletHas(A, B);
        requireRefused("is held by another claim");
        node.kubeletHas(B);
        Path file = node.kubeletState().path();
        Files.writeString(file, Files.readString(file).replace("uid-b", "uid-x"));
        requireRefused("is held by another claim");
        node.kubeletState().writeVersion("v2", "");
        requireRefused("is held by another claim");
        Files.delete(file);
        requireRefused("is held by another claim");

        assertThat(reads).as("requests for the claim that holds the device").hasValue(0);
    }

    /** The kubelet writes its file before it asks, and is answered from the journal. */
    @Test
    void areNoneAnyMoreWhenTheKubeletHasThemPreparedAgain() {
        node.api.beforeRead = ref -> {
            if (ref.equals(A)) {
                node.kubeletHas(A, B);
            }
        };

        requireRefused("is held by another claim");
    }

    private void requireRefused(String... reasons) {
        assertThat(message(node.prepare(B))).contains(reasons);
        assertThat(provider.calls).isEmpty();
        assertThat(node.journal.claim(A.uid())).isPresent();
    }
}
