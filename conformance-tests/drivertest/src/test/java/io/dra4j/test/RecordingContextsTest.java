// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.ClaimContext;
import io.dra4j.api.NodeLock;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.api.health.DeviceHealth;
import io.dra4j.api.health.HealthState;
import io.dra4j.test.RecordingDriverContext.MetadataUpdate;
import io.dra4j.test.RecordingDriverContext.Notice;
import io.dra4j.test.RecordingDriverContext.StatusUpdate;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RecordingContextsTest {

    private final RecordingDriverContext context = new RecordingDriverContext(Boards.DRIVER, "node-a");

    @Test
    void knowItsNamesAndTheTimeOfTheTest() {
        Instant time = Instant.parse("2030-01-01T00:00:00Z");
        context.setTime(time);
        context.advance(Duration.ofSeconds(5));

        assertThat(context.driverName()).isEqualTo(Boards.DRIVER);
        assertThat(context.nodeName()).isEqualTo("node-a");
        assertThat(context.clock().instant()).isEqualTo(time.plusSeconds(5));
    }

    @Test
    void countTheChangesOfTheInventory() throws Exception {
        Boards boards = new Boards("node-a");
        boards.start(context);

        assertThat(context.awaitInventoryChanges(1, Duration.ofMillis(1))).isFalse();
        boards.unplug("fpga-0");

        assertThat(context.inventoryChanges()).isEqualTo(1);
        assertThat(context.awaitInventoryChanges(1, Duration.ZERO)).isTrue();
    }

    @Test
    @Timeout(30) // half of the wait
    void endAWaitWhenTheInventoryHasChangedOftenEnough() throws Exception {
        FutureTask<Boolean> waiting = new FutureTask<>(() -> context.awaitInventoryChanges(2, Duration.ofMinutes(1)));
        Thread waiter = new Thread(waiting);
        waiter.start();

        for (int changes = 0; changes < 2; changes++) {
            while (waiter.getState() != Thread.State.TIMED_WAITING) {
                assertThat(waiting.isDone()).as("after %s changes", changes).isFalse();
            }
            context.inventoryChanged();
        }

        assertThat(waiting.get()).isTrue();
    }

    @Test
    void haveTheReportsOfHealth() {
        DeviceHealth well = health(HealthState.HEALTHY);
        DeviceHealth ill = health(HealthState.UNHEALTHY);

        context.reportHealth(List.of(well));
        context.reportHealth(List.of(ill));

        assertThat(context.health()).containsExactly(well, ill);
        assertThat(context.health("fpga-0")).contains(ill);
        assertThat(context.health("fpga-1")).isEmpty();
    }

    @Test
    void lockOutTheOtherThreadsOfTheTestByName(@TempDir Path directory) {
        assertThatThrownBy(context::directory).hasMessageContaining("call setDirectory");
        context.setDirectory(directory);
        assertThat(context.directory()).isEqualTo(directory);

        NodeLock lock = context.lock("slots", Duration.ZERO);
        context.lock("ports", ChronoUnit.FOREVER.getDuration()).close();
        assertThatThrownBy(() -> context.lock("slots", Duration.ofMillis(1)))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("the lock slots of the driver " + Boards.DRIVER);
        lock.close();
        lock.close();
        context.lock("slots", Duration.ZERO);
        assertThatThrownBy(() -> context.lock("slots", Duration.ZERO)).isInstanceOf(DraException.class);
        assertThatThrownBy(() -> context.lock("../slots", Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> context.lock("slots", Duration.ofMinutes(1))).isInstanceOf(DraException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    private static DeviceHealth health(HealthState state) {
        return new DeviceHealth(new PoolName("node-a"), new DeviceName("fpga-0"), state, "", Duration.ofSeconds(10));
    }

    @Test
    void haveTheReportsOfHeldClaims() throws Exception {
        AllocatedClaim claim = AllocatedClaims.of(Boards.DRIVER, new Boards("node-a"))
                .device("fpga-0")
                .build();
        HeldClaim held = HeldClaims.builder(claim).build();
        HeldDevice device = held.devices().get(0);
        DeviceStatus status = DeviceStatus.of(new Condition("Ready", ConditionStatus.TRUE, "Flashed", ""));
        DeviceMetadata metadata = new DeviceMetadata(Map.of(), null);

        context.setHeld(List.of(held));
        context.updateStatus(held.ref(), device, status);
        context.updateMetadata(held.ref(), device, metadata);
        context.notice("fpga-0", "runs without ECC");

        assertThat(context.held()).containsExactly(held);
        assertThat(context.statuses()).containsExactly(new StatusUpdate(held.ref(), device, status));
        assertThat(context.metadata()).containsExactly(new MetadataUpdate(held.ref(), device, metadata));
        assertThat(context.notices()).containsExactly(new Notice("fpga-0", "runs without ECC"));
    }

    @Test
    void keepOtherClaimsAndTheLastCheckpoint() throws Exception {
        ProviderState begun = new ProviderState(1, "\"begun\"");
        Boards boards = new Boards("node-a") {
            @Override
            public PreparedClaim prepare(AllocatedClaim claim, ClaimContext progress) {
                assertThat(progress.deadline())
                        .isEqualTo(context.clock().instant().plusSeconds(45));
                progress.checkpoint(begun);
                return claim.devices().size() == 1 ? PreparedClaim.empty() : null;
            }

            @Override
            public boolean changesNothing(AllocatedClaim claim) {
                return claim.ref().name().equals("third");
            }
        };
        AllocatedClaims claims = AllocatedClaims.of(Boards.DRIVER, boards).device("fpga-0");
        HeldClaim other = HeldClaims.builder(claims.build()).build();
        AllocatedClaim claim = claims.named("default", "second", "uid-2").build();
        context.setHeld(List.of(other));

        context.prepare(boards, claim);
        assertThat(context.held())
                .containsExactly(other, HeldClaims.builder(claim).state(begun).build());
        context.unprepare(boards, claim.ref());
        AllocatedClaim third = claims.named("default", "third", "uid-3").build();
        assertThatThrownBy(() -> context.prepare(boards, third)).hasMessageContaining("changesNothing() returned true");
        AllocatedClaim two =
                claims.named("default", "fourth", "uid-4").device("fpga-1").build();
        assertThatThrownBy(() -> context.prepare(boards, two)).hasMessageContaining("prepare() returned null");
        assertThat(context.held()).containsExactly(other);
    }

    @Test
    void holdTheClaimsThatAreWorkedOn() throws Exception {
        List<List<HeldClaim>> seen = new ArrayList<>();
        List<ClaimContext> calls = new ArrayList<>();
        Boards boards = new Boards("node-a") {
            @Override
            public PreparedClaim prepare(AllocatedClaim claim, ClaimContext progress) {
                calls.add(progress);
                seen.add(context.held());
                PreparedClaim prepared = super.prepare(claim, progress);
                seen.add(context.held());
                return prepared;
            }

            @Override
            public void unprepare(HeldClaim claim, ClaimContext progress) {
                seen.add(List.of(claim));
                seen.add(context.held());
                if (context.inventoryChanges() > 0) {
                    throw new IllegalStateException("busy");
                }
            }
        };
        AllocatedClaims claims = AllocatedClaims.of(Boards.DRIVER, boards).device("fpga-0");
        AllocatedClaim one = claims.build();

        PreparedClaim first = context.prepare(boards, one);
        assertThat(context.prepare(boards, one)).isSameAs(first);
        HeldClaim held = context.held().get(0);
        assertThat(held)
                .isEqualTo(HeldClaims.prepared(one, PreparedClaim.empty().withState(new ProviderState(1, "\"done\""))));
        assertThatThrownBy(() -> calls.get(0).checkpoint(new ProviderState(1, "1")))
                .hasMessageContaining("has ended");
        context.unprepare(boards, one.ref());
        assertThatThrownBy(() -> calls.get(0).checkpoint(new ProviderState(1, "1")))
                .hasMessageContaining("is not held");
        assertThat(context.held()).isEmpty();
        AllocatedClaim two = claims.device("fpga-1").build();
        assertThatThrownBy(() -> context.prepare(boards, two)).isInstanceOf(PrepareException.class);

        assertThat(context.held()).isEmpty();
        HeldClaim begun = HeldClaims.builder(two)
                .phase(HeldClaim.Phase.PREPARING)
                .state(new ProviderState(1, "\"begun\""))
                .build();
        assertThat(seen).hasSize(7).element(2).isEqualTo(List.of(held));
        assertThat(seen.get(1).get(0).state()).isEqualTo(begun.state());
        assertThat(seen.get(3)).extracting(HeldClaim::phase).containsExactly(HeldClaim.Phase.UNPREPARING);
        assertThat(seen.get(5)).containsExactly(begun);
        assertThatThrownBy(() -> context.unprepare(boards, one.ref())).hasMessageContaining("is not held");
        context.inventoryChanged();
        assertThatThrownBy(() -> context.prepare(boards, two))
                .isInstanceOf(PrepareException.class)
                .hasSuppressedException(new IllegalStateException("busy"));
        assertThat(context.held()).isEqualTo(seen.get(6));
        assertThatThrownBy(() -> context.prepare(boards, two)).hasMessage("busy"); // of the undo, which is first
        context.setHeld(List.of(held));
        assertThat(context.prepare(boards, one)).isSameAs(first);
        context.setHeld(List.of(HeldClaims.builder(two).build()));
        assertThatThrownBy(() -> context.prepare(boards, two)).hasMessageContaining("repeats its first answer");
    }

    @Test
    void haveTheCheckpointsOfAClaim() {
        RecordingClaimContext claim = new RecordingClaimContext(Instant.EPOCH);
        ProviderState first = new ProviderState(1, "1");
        ProviderState second = new ProviderState(1, "2");

        assertThat(claim.lastCheckpoint()).isEmpty();
        claim.checkpoint(first);
        claim.checkpoint(second);

        assertThat(claim.checkpoints()).containsExactly(first, second);
        assertThat(claim.lastCheckpoint()).contains(second);
        assertThat(claim.deadline()).isEqualTo(Instant.EPOCH);
        assertThat(new RecordingClaimContext().deadline())
                .isBetween(Instant.now(), Instant.now().plusSeconds(45));
    }
}
