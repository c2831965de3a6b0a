// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * How much is written while time goes by and nothing gets better: four drivers, each with a server
 * of its own, share one window of time, and each test looks at one of them.
 */
class SliceWindowIT {

    /** The suite's own rules look at 75 s, as the contract of DRA-SLICE-06 has it: EngineIT. */
    private static final Duration WINDOW =
            Duration.ofSeconds(Boolean.getBoolean("dra4j.full") ? 30 : 20);

    private static final long MOST_PER_MINUTE = 30;
    private static final int DEVICES = 3;
    private static final Predicate<RecordedRequest> WRITES = Requests.writes("resourceslices");

    private static DevicesUnderTest idle;
    private static DevicesUnderTest robbed;
    private static DevicesUnderTest invalid;
    private static DevicesUnderTest forbidden;
    private static Injection invalidity;
    private static Injection prohibition;
    private static int idleFrom;
    private static int robbedFrom;
    private static int invalidFrom;
    private static int forbiddenFrom;
    private static Instant end;
    private static Map<String, String> idleVersions;

    @BeforeAll
    static void spendTheWindow() throws Exception {
        idle = published();
        robbed = published();
        invalid = published();
        forbidden = published();
        invalidity = invalid.driver.proxy.inject(Fault.status(422, "Invalid").on(WRITES));
        prohibition = forbidden.driver.proxy.inject(Fault.status(403, "Forbidden").on(WRITES));
        invalidFrom = invalid.driver.proxy.lastNumber();
        forbiddenFrom = forbidden.driver.proxy.lastNumber();
        invalid.faults("gpu-0 NoSchedule hot");
        forbidden.faults("gpu-0 NoSchedule hot");
        idleFrom = idle.driver.proxy.lastNumber();
        robbedFrom = robbed.driver.proxy.lastNumber();
        idleVersions = idle.pool().versions();
        robFor(WINDOW);
        end = Instant.now();
    }

    private static DevicesUnderTest published() throws Exception {
        DriverUnderTest driver = new DriverUnderTest(EmbeddedApiServer.builder());
        DevicesUnderTest gpus = new DevicesUnderTest(driver, "--num-devices=" + DEVICES);
        gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
        return gpus;
    }

    /** Deletes whatever there is, ten times a second. */
    private static void robFor(Duration window) throws Exception {
        ScheduledExecutorService adversary = Executors.newSingleThreadScheduledExecutor();
        try {
            Future<?> deletes =
                    adversary.scheduleAtFixedRate(
                            SliceWindowIT::rob, 0, 100, TimeUnit.MILLISECONDS);
            assertThatThrownBy(() -> deletes.get(window.toMillis(), TimeUnit.MILLISECONDS))
                    .as("the window is over, and the adversary was at it all the time")
                    .isInstanceOf(TimeoutException.class);
        } finally {
            adversary.shutdownNow();
        }
        assertThat(adversary.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    private static void rob() {
        for (JsonNode slice : robbed.slices()) {
            robbed.driver
                    .api
                    .store()
                    .delete("resourceslices", "", slice.at("/metadata/name").asText());
        }
    }

    @AfterAll
    static void stop() {
        for (DevicesUnderTest gpus : List.of(idle, robbed, invalid, forbidden)) {
            gpus.close();
        }
    }

    @Test
    @Tag("DRA-SLICE-06")
    void anIdleDriverWritesNothing() {
        assertThat(idle.writesAfter(idleFrom)).as(idle.driver.proxy.log()).isEmpty();
        assertThat(idle.pool().versions()).isEqualTo(idleVersions);
        System.out.printf("DRA-SLICE-06: 0 writes in %s%n%s%n", WINDOW, idle.driver.proxy.log());
    }

    @Test
    @Tag("DRA-SLICE-08")
    void anAdversaryIsMetWithPatience() throws Exception {
        assertSlow("DRA-SLICE-08, deleted every 100 ms", robbed, robbedFrom);

        robbed.awaitPool(p -> p.settled(DEVICES));
    }

    @Test
    @Tag("DRA-SLICE-14")
    void writesThatAreInvalidAreRepeatedRarely() throws Exception {
        assertSlow("DRA-SLICE-14, 422", invalid, invalidFrom);
        assertLives(invalid);

        invalidity.close();
        invalid.awaitPool(p -> p.settled(DEVICES) && p.faults().get("gpu-0").equals("hot"));
    }

    @Test
    @Tag("DRA-SLICE-14")
    void writesThatAreForbiddenAreRepeatedRarely() throws Exception {
        assertSlow("DRA-SLICE-14, 403", forbidden, forbiddenFrom);
        assertLives(forbidden);

        prohibition.close();
        forbidden.faults("gpu-0 NoSchedule cold");
        Instant changed = Instant.now();
        forbidden.awaitPool(p -> p.settled(DEVICES) && p.faults().get("gpu-0").equals("cold"));
        System.out.printf(
                "DRA-SLICE-14, 403: a change was published %d ms after it%n",
                Duration.between(changed, Instant.now()).toMillis());
    }

    private static void assertSlow(String what, DevicesUnderTest gpus, int from) {
        long writes = gpus.writesAfter(from).stream().filter(r -> r.at().isBefore(end)).count();
        long perMinute = Math.round(writes * 60.0 / WINDOW.toSeconds());
        System.out.printf(
                "%s: %d writes in %s, %d a minute%n%s%n",
                what,
                writes,
                WINDOW,
                perMinute,
                gpus.driver.proxy.log(Requests.to("resourceslices")));
        assertThat(perMinute).as(gpus.driver.proxy.log()).isBetween(1L, MOST_PER_MINUTE);
    }

    /** It prepares claims as if nothing had happened. */
    private static void assertLives(DevicesUnderTest gpus) throws Exception {
        KubeletClaim claim = gpus.driver.allocate("claim", "gpu-1");
        assertThat(gpus.prepare(claim)).isEmpty();
        gpus.unprepare(claim);
    }
}
