// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.sketch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.Progress;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs each sketch through the one step that is hard for its kind of device. */
class SketchesTest {

    private static final ClaimRef CLAIM = new ClaimRef("ns", "a", "uid-a");

    private final List<String> events = new ArrayList<>();

    @Test
    void migRecordsAnInstanceBeforeItIsMadeAndCanUndoItAfterACrash() throws Exception {
        MigSketch mig = new MigSketch("node-a", new FailingGpu());
        AllocatedClaim claim = claim(share("gpu-0-mig-1g-10gb-2", null, Map.of()));

        assertThatThrownBy(() -> mig.prepare(claim, recording())).hasMessage("power loss");
        String recorded = events.get(0).substring("record ".length());
        mig.unprepare(held(new ProviderState(1, recorded)), recording());

        assertThat(events)
                .containsExactly(
                        "record [\"gpu-0-mig-1g-10gb-2\"]",
                        "create 1g.10gb at 2",
                        "destroy 1g.10gb at 2");
    }

    @Test
    void migPublishesEveryPlacementWithTheCountersItTakes() throws Exception {
        var pool = new MigSketch("node-a", new FailingGpu()).inventory().pools().get(0);

        assertThat(pool.devices()).hasSize(4);
        assertThat(pool.devices().get(3).consumesCounters().get(0).counters()).hasSize(4);
        assertThat(pool.counterSets().get(0).counters()).hasSize(8);
    }

    @Test
    void cpusOfAClaimAreOneVariableAndStayTheSameWhenItIsPreparedAgain() {
        CpuSketch cpus = new CpuSketch("node-a", 8);
        AllocatedClaim claim =
                claim(
                        share("numa-0", "share-1", Map.of("cpus", Quantity.of(2))),
                        share("numa-0", "share-2", Map.of("cpus", Quantity.of(1))));

        PreparedClaim first = cpus.prepare(claim, recording());

        assertThat(first.edits().env()).containsEntry("CPUSET", "0,1,2");
        assertThat(first.devices()).hasSize(2).allMatch(device -> device.edits().isEmpty());
        assertThat(cpus.prepare(claim, recording())).isEqualTo(first);
    }

    @Test
    void aNetworkDriverAnswersNothingForCdiAndKeepsWhatItMustRemember() {
        PreparedClaim answer =
                new NetworkSketch().prepare(claim(share("eth1", null, Map.of())), recording());

        assertThat(answer.devices()).isEmpty();
        assertThat(answer.edits().isEmpty()).isTrue();
        assertThat(answer.state()).isEqualTo(new ProviderState(1, "\"net1\""));
    }

    private static AllocatedClaim claim(AllocatedDevice... devices) {
        return new AllocatedClaim(CLAIM, List.of(devices), "{}");
    }

    private static AllocatedDevice share(
            String device, @Nullable String shareId, Map<String, Quantity> consumed) {
        return new AllocatedDevice(
                "request",
                null,
                new PoolName("node-a"),
                new DeviceName(device),
                shareId,
                consumed,
                false,
                null,
                List.of());
    }

    private static HeldClaim held(ProviderState state) {
        return new HeldClaim(CLAIM, HeldClaim.Phase.STARTED, false, List.of(), state);
    }

    private Progress recording() {
        return new Progress() {
            @Override
            public void record(ProviderState state) {
                events.add("record " + state.json());
            }

            @Override
            public Instant deadline() {
                return Instant.MAX;
            }
        };
    }

    /** The node loses power right after an instance was made. */
    private final class FailingGpu implements MigSketch.Gpu {

        @Override
        public List<Integer> starts(String profile) {
            return profile.startsWith("1g") ? List.of(0, 2) : List.of(0, 4);
        }

        @Override
        public String create(String profile, int start) {
            events.add("create " + profile + " at " + start);
            throw new IllegalStateException("power loss");
        }

        @Override
        public void destroyIfPresent(String profile, int start) {
            events.add("destroy " + profile + " at " + start);
        }
    }
}
