// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.takeover.TakeOver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The claims that another driver of this name has left on the node. */
class AdoptionTest extends NodeFixture {

    private static final ProviderState STATE = new ProviderState(1, "{\"adopted\":true}");
    private static final ClaimRef C = new ClaimRef("ns", "c", "uid-c");

    /** The other driver: it has both claims, and its record is put aside once. */
    private final class Other implements TakeOver {
        private Set<String> uids = Set.of(A.uid(), B.uid());
        private String refused = "";
        private String refusedByRecord = "";
        private RuntimeException atTheEnd = null;
        private ProviderState state = STATE;
        private final List<String> calls = new ArrayList<>();
        private boolean hasRun = true;

        @Override
        public boolean hasRun() {
            return hasRun;
        }

        @Override
        public Set<String> claims(String bootId) {
            return bootId.equals("boot-1") ? uids : Set.of();
        }

        @Override
        public Inventory inventory() {
            return provider.inventory();
        }

        @Override
        public List<HeldDevice> lost(String uid) {
            calls.add("lost " + uid);
            return List.of(HeldDevice.builder("r", new PoolName("node"), new DeviceName("gpu-1"))
                    .build());
        }

        @Override
        public void check(String uid) {
            if (uid.equals(refusedByRecord)) {
                throw new PrepareException("it has a device of another kind");
            }
        }

        @Override
        public PreparedClaim adopt(AllocatedClaim claim) {
            calls.add("adopt " + claim.ref().uid());
            if (claim.ref().uid().equals(refused)) {
                throw new PrepareException("it has what can't be undone");
            }
            ContainerEdits edits = ContainerEdits.builder().env("OTHER", "1").build();
            return PreparedClaim.of(claim.devices().stream()
                            .map(device -> PreparedDevice.of(device, edits))
                            .toList())
                    .withState(state);
        }

        @Override
        public void finish() {
            if (atTheEnd != null) {
                throw atTheEnd;
            }
            calls.add("finish");
            uids = Set.of();
        }

        @Override
        public String alternative() {
            return "--take-over=ignore";
        }
    }

    private final Other other = new Other();

    @BeforeEach
    void allocate() {
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
    }

    private void adopt() {
        new Adoption(NodeUnderTest.DRIVER, "node-1", List.of(), node.journal, node.api, other, node.data).run();
    }

    private Path yaml() {
        return node.cdi.resolve("k8s.%s-claim_%s.yaml".formatted(NodeUnderTest.DRIVER, A.uid()));
    }

    @Test
    void claimsGoOnAsIfThisDriverHadPreparedThem() throws Exception {
        Files.createDirectories(node.cdi);
        Files.writeString(yaml(), "cdiVersion: 0.5.0");

        adopt();
        node.claims.recover();

        assertThat(node.phase(A)).isEqualTo(Phase.PREPARED);
        assertThat(Files.readString(node.spec(A.uid()))).contains("OTHER=1", A.uid() + "-gpu-0");
        assertThat(yaml()).doesNotExist();
        assertThat(node.unprepare(A)).isInstanceOf(Unprepared.class);
        assertThat(provider.unprepared.get(0).state()).isEqualTo(STATE);
        assertThat(node.specs()).containsExactly(B.uid());
        assertThat(provider.calls).containsExactly("unprepare " + A.uid());
    }

    @Test
    void ifOneCannotBeTakenOverNoneIs() {
        other.refused = B.uid();

        assertThatThrownBy(this::adopt)
                .isInstanceOf(DraException.class)
                .hasMessageContaining("1 of 2 claims")
                .hasMessageContaining("ns/b (uid-b): it has what can't be undone")
                .hasMessageContaining("kubectl drain node-1")
                .hasMessageContaining("--take-over=ignore");

        assertThat(node.journal.claims()).isEmpty();
        assertThat(other.calls).doesNotContain("finish");
    }

    @Test
    void theRecordJudgesBeforeTheAllocationIsRead() {
        node.allocate(B, "gpu-of-another-kind");
        other.refusedByRecord = B.uid();

        assertThatThrownBy(this::adopt)
                .hasMessageContaining("1 of 2 claims")
                .hasMessageContaining("ns/b (uid-b): it has a device of another kind")
                .hasMessageContaining("kubectl drain node-1");

        assertThat(other.calls).containsExactly("adopt " + A.uid());
    }

    @Test
    void withoutTheApiServerTheDriverDoesNotStart() {
        node.api.listFailure = new ClusterException("no route to host", 0, null);

        assertThatThrownBy(this::adopt)
                .hasMessageContaining("has prepared 2 claims")
                .hasMessageContaining("no route to host");
        assertThat(other.calls).isEmpty();
    }

    @Test
    void claimsThatAreDeletedAreHeldAndUndoneWithWhatTheirRecordNames() {
        node.api.objects.remove(B);

        adopt();
        node.claims.recover();

        assertThat(node.phase(A)).isEqualTo(Phase.PREPARED);
        assertThat(node.phase(B)).isEqualTo(Phase.DAMAGED);
        assertThat(other.calls).containsExactly("lost " + B.uid(), "adopt " + A.uid(), "finish");
        assertThat(node.unprepare(B)).isInstanceOf(Unprepared.class);
        assertThat(provider.unprepared).hasSize(1);
        assertThat(provider.unprepared.get(0).ref().uid()).isEqualTo(B.uid());
        assertThat(provider.unprepared.get(0).devices())
                .extracting(device -> device.device().value())
                .containsExactly("gpu-1");
    }

    @Test
    void aDeletedClaimDoesNotKeepTheDeviceFromTheNext() {
        node.api.objects.remove(B);
        node.allocate(A, "gpu-1");

        adopt();

        assertThat(node.phase(A)).isEqualTo(Phase.PREPARED);
    }

    @Test
    void claimsOfOthersStayWithThem() {
        provider.devices = 3;
        node.allocate(C, "gpu-2");

        adopt();

        assertThat(node.journal.claim(C.uid())).isEmpty();
        assertThat(node.journal.claims()).hasSize(2);
    }

    /** The scheduler may have taken the allocation back, or given another one. */
    @Test
    void aClaimWithoutADeviceOfThisDriverIsHeldAsOneThatIsDeleted() {
        node.allocate(B, new Result("other", "r", "node", "gpu-1", null, Map.of(), false, Set.of()));

        adopt();

        assertThat(node.phase(B)).isEqualTo(Phase.DAMAGED);
        assertThat(other.calls).containsExactly("lost " + B.uid(), "adopt " + A.uid(), "finish");
    }

    /** The other driver did not know A, and told the kubelet that it is unprepared. */
    @Test
    void aClaimThatEndedWhileTheOtherDriverRanFreesItsDevice() {
        node.prepare(A);
        other.uids = Set.of();
        node.api.objects.remove(A);

        adopt();
        node.allocate(B, "gpu-0");

        assertThat(node.prepare(B)).isInstanceOf(PrepareOutcome.Prepared.class);
        assertThat(provider.calls).containsSubsequence("unprepare " + A.uid(), "prepare " + B.uid());
        assertThat(node.journal.claim(A.uid())).isEmpty();
    }

    @Test
    void aClaimThatMayStillRunKeepsItsDevice() {
        node.prepare(A);
        node.prepare(B);
        node.kubeletHas(B);
        other.uids = Set.of();
        node.api.objects.remove(B);
        adopt();
        assertThat(node.phase(A)).as("the cluster has it").isEqualTo(Phase.PREPARED);
        assertThat(node.phase(B)).as("the kubelet has it").isEqualTo(Phase.PREPARED);

        other.hasRun = false;
        node.kubeletHas();
        adopt();
        assertThat(node.phase(B)).as("the kubelet asks this driver").isEqualTo(Phase.PREPARED);

        other.hasRun = true;
        node.api.listFailure = new ClusterException("no route to host", 0, null);
        adopt();
        assertThat(node.phase(B)).as("it is unknown").isEqualTo(Phase.PREPARED);
    }

    @Test
    void twoClaimsWithOneDeviceAreRefused() {
        node.allocate(B, "gpu-0");

        assertThatThrownBy(this::adopt)
                .hasMessageContaining("1 of 2 claims")
                .hasMessageContaining("node/gpu-0 is held by claim");
        assertThat(node.journal.claims()).isEmpty();

        node.prepare(A);
        assertThatThrownBy(this::adopt)
                .as("held by one of this driver")
                .hasMessageContaining("node/gpu-0 is held by claim");
    }

    @Test
    void theRecordHasThePodsAndWhetherTheClaimIsUnpreparedAtAll() {
        Result skipped = NodeUnderTest.result("gpu-0", "NodeUnprepareResources");
        node.api.objects.put(
                A,
                new ClaimObject(
                        A.uid(),
                        new Allocation(List.of(skipped), List.of()),
                        Map.of(),
                        "{\"status\":{\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"trainer\"}]}}"));

        adopt();

        ClaimRecord taken = node.journal.claim(A.uid()).orElseThrow();
        assertThat(taken.unprepareSkipped()).isTrue();
        assertThat(taken.pods()).containsExactly("trainer");
        assertThat(node.journal.claim(B.uid()).orElseThrow().unprepareSkipped()).isNull();
    }

    /** The journal has the newer record of those that are taken over. */
    @Test
    void aStartAfterACrashGoesOnAndLeavesClaimsThatAreTakenOverAsTheyAre() {
        other.atTheEnd = new DraException("killed before the other's record was put aside");
        assertThatThrownBy(this::adopt).hasMessageContaining("killed");
        node.restart("boot-1");
        node.api.objects.remove(A);
        other.atTheEnd = null;
        other.state = new ProviderState(1, "{}");
        other.refused = B.uid();

        adopt();

        for (ClaimRef claim : List.of(A, B)) {
            assertThat(node.phase(claim)).isEqualTo(Phase.PREPARED);
            assertThat(node.journal.claim(claim.uid()).orElseThrow().state()).isEqualTo(STATE);
        }
        assertThat(other.calls).endsWith("finish");
    }

    @Test
    void afterARebootThereIsNothingToTakeOver() {
        node.restart("boot-2");

        adopt();

        assertThat(node.journal.claims()).isEmpty();
        assertThat(other.calls).containsExactly("finish");
    }
}
