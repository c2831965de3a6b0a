// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.simulation.world.ClaimScheduler.Wish;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The surroundings of a driver that does everything right. */
class WorldTest extends WorldFixture {

    @Test
    void runsPodsOneAfterTheOtherWhereDevicesAreFew() throws Throwable {
        run(() -> {
            Pod two = running(Wish.TWO_MODES, Wish.PLAIN);
            Pod third = running(Wish.CONFIGURED, Wish.ADMIN);
            Pod waits = scheduler.create(List.of(Wish.TWO_MODES));
            Pod twin = scheduler.createWithClaimsOf(two);
            sleep(60);
            assertThat(waits.phase()).isEqualTo(Pod.Phase.UNSCHEDULED);
            assertThat(twin.phase()).isEqualTo(Pod.Phase.RUNNING);
            assertThat(hardware.settings()).hasSize(3);
            scheduler.end(two);
            sleep(60);
            assertThat(waits.phase()).isEqualTo(Pod.Phase.UNSCHEDULED);
            scheduler.end(twin);
            sleep(60);
            assertThat(waits.phase()).isEqualTo(Pod.Phase.RUNNING);
            invariants.quiet(scheduler.pods());
            admin.drain(scheduler);
            sleep(60);
            invariants.quiet(scheduler.pods());
            assertThat(scheduler.pods()).allMatch(pod -> pod.phase() == Pod.Phase.GONE);
            assertThat(third.isEnded()).isTrue();
            assertThat(api.list("resourceclaims")).isEmpty();
            assertThat(invariants.answers()).isPositive();
        });
    }

    @Test
    void choosesDevicesFromSlicesAsTheyWereForSomeMinutes() throws Throwable {
        Set<String> chosen = new TreeSet<>();
        run(() -> {
            scheduler.afterEachAllocation((uid, hardware) -> chosen.add(hardware.get("plain-0")));
            running(Wish.ADMIN);
            hardware.swap("plain-0", "plain-1");
            driver.publishSlice();
            for (int i = 0; i < 60; i++) {
                running(Wish.ADMIN);
                if (i == 30) {
                    assertThat(chosen).containsExactly("UUID-0", "UUID-1");
                    sleep(600);
                    chosen.clear();
                }
            }
        });
        assertThat(chosen).containsExactly("UUID-1");
    }

    private void hangOnce() {
        driver.before = () -> {};
        sleep(50);
    }

    @Test
    void givesACallUpAndTriesAgainLater() throws Throwable {
        run(() -> {
            driver.before = this::hangOnce;
            Pod pod = scheduler.create(List.of(Wish.MODE));
            sleep(47);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.WAITING);
            sleep(20);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.RUNNING);
            assertThat(driver.calls).startsWith("prepare", "prepare");
        });
    }

    @Test
    void givesAPrepareUpWhenThePodEnds() throws Throwable {
        run(() -> {
            driver.before = this::hangOnce;
            Pod pod = scheduler.create(List.of(Wish.MODE));
            sleep(10);
            scheduler.end(pod);
            sleep(5);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.GONE);
            assertThat(driver.calls).startsWith("prepare", "unprepare").containsOnlyOnce("prepare");
        });
    }

    @Test
    void seesTwoCallsOfASerializedProvider() throws Throwable {
        run(() -> {
            Hardware serialized = new Hardware(SITE.driver(), SITE.node(), true);
            serialized.enter("one");
            serialized.enter("other");
            assertThat(serialized.misuses()).hasSize(1);
        });
    }

    @Test
    void deletesTheSlicesOfADriverThatIsAwayForLong() throws Throwable {
        run(() -> {
            kubelet.withdraw(driver);
            sleep(29);
            kubelet.publish(driver);
            sleep(29);
            assertThat(api.list("resourceslices")).isNotEmpty();
            kubelet.withdraw(driver);
            sleep(31);
            assertThat(api.list("resourceslices")).isEmpty();
        });
    }

    @Test
    void preparesAgainAfterARebootAndForgetsWithoutItsFile() throws Throwable {
        run(() -> {
            Pod pod = running(Wish.MODE);
            kubelet.powerOff();
            hardware.reboot();
            kubelet.start();
            publish();
            sleep(20);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.RUNNING);
            int before = driver.calls.size();
            kubelet.restart();
            sleep(20);
            assertThat(driver.calls).hasSize(before);
            kubelet.loseState();
            scheduler.end(pod);
            sleep(20);
            assertThat(pod.phase()).isEqualTo(Pod.Phase.GONE);
            assertThat(driver.calls).doesNotContain("unprepare");
        });
    }
}
