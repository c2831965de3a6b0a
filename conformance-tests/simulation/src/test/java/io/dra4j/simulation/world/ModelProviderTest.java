// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.schedule.Trace;
import io.dra4j.simulation.world.Hardware.Fault;
import io.dra4j.simulation.world.ModelProvider.Wrong;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ModelProviderTest {

    private static final ClaimRef REF = new ClaimRef("default", "claim", "uid-1");

    private final Hardware hardware = new Hardware("sim.example.com", "node-1");
    private @Nullable ProviderState kept;

    private final ClaimContext context = new ClaimContext() {
        @Override
        public Instant deadline() {
            return Simulation.now();
        }

        @Override
        public void checkpoint(ProviderState state) {
            kept = state;
        }
    };

    private AllocatedDevice device(String name) {
        HeldDevice.Builder held = HeldDevice.builder("one", new PoolName("node-1"), new DeviceName(name))
                .physicalId(hardware.uuid(name));
        if (name.startsWith("share")) {
            held.shareId("share-1").consumedCapacity(Hardware.MEMORY, new Quantity("20Gi"));
        }
        ModelProvider.Mode mode = new ModelProvider.Mode("default");
        return AllocatedDevice.builder(held.build())
                .config(new AppliedConfig<>(mode, ConfigSource.FROM_CLAIM, 0, List.of()))
                .build();
    }

    private AllocatedClaim claim(String... devices) {
        AllocatedClaim.Builder claim = AllocatedClaim.builder(REF);
        Stream.of(devices).map(this::device).forEach(claim::device);
        return claim.build();
    }

    /** Prepares in a process that dies at a step, or that ends when it is done; then another process unprepares. */
    private void prepareAndUndo(Wrong wrong, AllocatedClaim claim, int deathAtStep, Runnable between) {
        Process process = Simulation.newProcess("first", this);
        List<HeldClaim.Phase> phase = new ArrayList<>(List.of(HeldClaim.Phase.PREPARING));
        if (deathAtStep > 0) {
            hardware.fail(Fault.HANGS, deathAtStep);
        }
        Simulation.start(process, "prepare", () -> {
            kept = prepared(new ModelProvider(hardware, wrong), claim);
            phase.add(0, HeldClaim.Phase.PREPARED);
        });
        Simulation.await(phase::isEmpty, 1_000_000_000L);
        process.kill();
        between.run();
        Simulation.await(() -> false, Duration.ofMinutes(2).toNanos());
        HeldClaim held = HeldClaim.builder(REF)
                .phase(phase.get(0))
                .state(kept)
                .devices(claim.devices().stream().map(AllocatedDevice::held).toList())
                .build();
        try {
            ModelProvider second = new ModelProvider(hardware, wrong);
            second.unprepare(held, context);
            second.unprepare(held, context);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private @Nullable ProviderState prepared(ModelProvider provider, AllocatedClaim claim) {
        try {
            ProviderState state = provider.prepare(claim, context).state();
            assertThat(provider.prepare(claim, context).state()).isEqualTo(state);
            return state;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void hasDevicesThatShareWhatTheyAreMadeOf() {
        hardware.present("part-0", false);
        assertThat(hardware.inventory().pools().get(0).counterSets()).hasSize(1);
        hardware.recover();

        Pool pool = hardware.inventory().pools().get(0);
        assertThat(pool.devices()).hasSize(16).allMatch(device -> device.physicalId() != null);
        assertThat(pool.devices().stream()
                        .filter(device -> !device.consumesCounters().isEmpty()))
                .hasSize(10);
        assertThat(hardware.parts("part-0-half-1")).containsExactly("slot-2", "slot-3");
    }

    @ParameterizedTest
    @EnumSource(Wrong.class)
    void leavesNothingUnlessItIsWrong(Wrong wrong) throws Throwable {
        boolean isLeft = wrong != Wrong.NOTHING;
        Simulation.run(1, new Trace(0), () -> {
            switch (wrong) {
                case NOTHING -> {
                    for (int step = 0; step < 4; step++) {
                        prepareAndUndo(
                                wrong,
                                claim("mode-0", "mode-1", "share-0"),
                                step,
                                () -> hardware.swap("mode-0", "mode-2"));
                        assertThat(hardware.settings())
                                .as("death at step %d", step)
                                .isEmpty();
                        kept = null;
                    }
                }
                case NO_CHECKPOINT -> prepareAndUndo(wrong, claim("mode-0", "mode-1"), 2, () -> {});
                case BY_NAME -> prepareAndUndo(wrong, claim("mode-0"), 0, () -> hardware.swap("mode-0", "mode-1"));
                case CHANGES_SOMETHING ->
                    assertThat(new ModelProvider(hardware, Wrong.NOTHING).changesNothing(claim("share-0")))
                            .isNotEqualTo(new ModelProvider(hardware, wrong).changesNothing(claim("share-0")));
                default -> prepareAndUndo(wrong, claim("mode-0", "mode-1"), 0, () -> {});
            }
        });

        assertThat(!hardware.settings().isEmpty() || wrong == Wrong.CHANGES_SOMETHING)
                .isEqualTo(isLeft);
    }
}
