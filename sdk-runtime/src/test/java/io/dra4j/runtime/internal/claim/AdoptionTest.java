// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.AllocatedClaim;
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
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.takeover.TakeOver;
import io.dra4j.testkit.Scenarios;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The claims that another driver of this name has left on the node. */
class AdoptionTest extends ScenarioNode {

    private static final ProviderState STATE = new ProviderState(1, "{\"adopted\":true}");

    /** The other driver: it has both claims, and its record is put aside once. */
    private final class Other implements TakeOver {
        private Set<String> uids = new TreeSet<>(List.of(A.uid(), B.uid()));
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

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "adopt" -> adopt();
            case "adopt-fails" ->
                assertThatThrownBy(this::adopt)
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            case "other-calls" -> {
                assertThat(list(other.calls.stream().map(call -> call.replace("uid-", ""))))
                        .isEqualTo(text);
                other.calls.clear();
            }
            case "other-unfinished" -> {
                assertThat(other.calls).doesNotContain("finish");
                other.calls.clear();
            }
            case "other-has" -> other.uids = Set.of();
            case "other-has-run" -> other.hasRun = true;
            case "other-has-not-run" -> other.hasRun = false;
            case "other-refuses" -> other.refused = ref(words[1]).uid();
            case "other-record-refuses" -> other.refusedByRecord = ref(words[1]).uid();
            case "other-ends" -> other.atTheEnd = text.isEmpty() ? null : new DraException(text);
            case "other-state" -> other.state = new ProviderState(1, text);
            default -> super.run(words, text);
        }
    }

    @Scenarios("adoption.txt")
    void claimsOfAnotherDriverAreTakenOver(String scenario) throws Exception {
        play(scenario);
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
}
