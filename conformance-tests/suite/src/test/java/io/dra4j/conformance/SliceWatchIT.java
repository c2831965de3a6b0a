// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** Watches that break: what others did meanwhile and do later is noticed. */
class SliceWatchIT {

    private static final int DEVICES = 3;
    private static final Duration SILENCE = Duration.ofSeconds(200);
    private static final Predicate<RecordedRequest> WATCHES = Requests.watches("resourceslices");

    private DevicesUnderTest gpus;
    private int number;

    @BeforeEach
    void start() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
        number = gpus.driver.proxy.lastNumber();
    }

    @AfterEach
    void stop() {
        gpus.close();
    }

    private void assertDeleteIsNoticed(String when) throws Exception {
        new SliceTraffic(gpus.driver.api).delete(gpus.pool().sliceOf("gpu-0"));
        gpus.awaitPool(p -> p.settled(DEVICES));
        System.out.printf("DRA-SLICE-16, %s:%n%s%n", when, gpus.driver.proxy.log());
    }

    @Test
    @Tag("DRA-SLICE-16")
    void aWatchThatWasCutIsOpenedAgain() throws Exception {
        gpus.driver.proxy.cutWatches();
        assertDeleteIsNoticed("deleted while no watch was open");

        gpus.awaitWatching(number);
        assertDeleteIsNoticed("deleted after the watch was cut");
    }

    @Test
    @Tag("DRA-SLICE-16")
    void aWatchThatEndsAsTooOldIsOpenedAgainAfterAList() throws Exception {
        gpus.driver.proxy.expireWatches();
        gpus.driver.proxy.await(
                PATIENCE, Requests.lists("resourceslices").and(Requests.after(number)));
        gpus.awaitWatching(number);

        assertDeleteIsNoticed("deleted after 410 as an event");
    }

    @Test
    @Tag("DRA-SLICE-16")
    void aWatchThatIsRefusedAsTooOldIsOpenedAgain() throws Exception {
        gpus.driver.proxy.inject(Fault.status(410, "Expired").on(WATCHES).times(2));
        gpus.driver.proxy.inject(Fault.gone().on(WATCHES).times(1));
        gpus.driver.proxy.cutWatches();
        gpus.awaitWatching(number);

        assertThat(gpus.driver.proxy.requests(WATCHES.and(Requests.after(number))))
                .as(gpus.driver.proxy.log())
                .hasSizeBetween(2, 4);
        assertDeleteIsNoticed("deleted after 410 as an answer");
    }

    @Test
    @Tag("DRA-SLICE-16")
    @EnabledIfSystemProperty(
            named = "dra4j.full",
            matches = "true",
            disabledReason = "takes minutes; PublishingPaceTest has the same with a clock")
    void aWatchThatSaysNothingIsOpenedAgain() throws Exception {
        gpus.driver.proxy.stallWatches();
        new SliceTraffic(gpus.driver.api).delete(gpus.pool().sliceOf("gpu-0"));

        gpus.driver.proxy.await(
                SILENCE, Requests.creates("resourceslices").and(Requests.after(number)));
        gpus.awaitPool(p -> p.settled(DEVICES));
        System.out.printf("DRA-SLICE-16, silent:%n%s%n", gpus.driver.proxy.log());
    }
}
