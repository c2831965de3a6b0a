// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Writes that fail some times: the driver comes again, and in the end all is as it should be. */
class SliceFailureIT {

    private static final int DEVICES = 130;
    private static final int TIMES = 3;
    private static final Duration OUTAGE = Duration.ofMillis(1500);
    private static final Predicate<RecordedRequest> WRITES = Requests.writes("resourceslices");

    private static DevicesUnderTest gpus;
    private static int rounds;

    @BeforeAll
    static void start() throws Exception {
        gpus = new DevicesUnderTest(EmbeddedApiServer.builder(), "--num-devices=" + DEVICES);
        gpus.awaitPool(p -> p.settled(DEVICES));
        gpus.awaitWatching(0);
    }

    @AfterAll
    static void stop() {
        gpus.close();
    }

    /** Changes a device in two slices, and waits until the cluster says so. */
    private static void change() throws Exception {
        String reason = "round-" + ++rounds;
        gpus.faults("gpu-0 NoSchedule " + reason, "gpu-70 NoExecute " + reason);
        gpus.awaitPool(
                p ->
                        p.settled(DEVICES)
                                && p.faults().get("gpu-0").equals(reason)
                                && p.faults().get("gpu-70").equals(reason));
    }

    private static List<RecordedRequest> writesAfter(int number) {
        return gpus.writesAfter(number);
    }

    static Stream<Arguments> faults() {
        return Stream.of(
                Arguments.of("409 Conflict", Fault.status(409, "Conflict")),
                Arguments.of("409 AlreadyExists", Fault.status(409, "AlreadyExists")),
                Arguments.of("410 Expired", Fault.status(410, "Expired")),
                Arguments.of("500", Fault.status(500, "InternalError")),
                Arguments.of("503", Fault.status(503, "ServiceUnavailable")),
                Arguments.of("dropped", Fault.drop()),
                Arguments.of("delayed", Fault.delay(Duration.ofMillis(700))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("faults")
    @Tag("DRA-SLICE-13")
    void anUpdateThatFailsAtFirstIsDoneInTheEnd(String name, Fault fault) throws Exception {
        int number = gpus.driver.proxy.lastNumber();
        try (Injection injection = gpus.driver.proxy.inject(fault.on(WRITES).times(TIMES))) {
            change();

            assertThat(injection.over()).as(gpus.driver.proxy.log()).isTrue();
        }
        assertThat(writesAfter(number))
                .as(gpus.driver.proxy.log())
                .hasSizeBetween(2, 3 * TIMES)
                .anyMatch(r -> !r.fault().isEmpty());
        printRequests(name, number);
    }

    private static void printRequests(String name, int number) {
        System.out.printf(
                "DRA-SLICE-13, %s: %d writes%n%s%n",
                name,
                writesAfter(number).size(),
                gpus.driver.proxy.log(Requests.to("resourceslices").and(Requests.after(number))));
    }

    @Test
    @Tag("DRA-SLICE-13")
    void theServersWordOnWhenToComeAgainIsHonoured() throws Exception {
        int number = gpus.driver.proxy.lastNumber();
        Duration wait = Duration.ofSeconds(2);
        gpus.driver.proxy.inject(
                Fault.status(429, "TooManyRequests").retryAfter(wait).on(WRITES).times(1));

        change();

        List<RecordedRequest> writes = writesAfter(number);
        assertThat(writes.get(0).status()).isEqualTo(429);
        assertThat(Duration.between(writes.get(0).at(), writes.get(1).at()))
                .as(gpus.driver.proxy.log())
                .isGreaterThanOrEqualTo(wait);
        printRequests("429 with Retry-After", number);
    }

    @Test
    @Tag("DRA-SLICE-13")
    void anOutageEndsWithoutARestart() throws Exception {
        gpus.driver.proxy.down();
        String reason = "outage";
        gpus.faults("gpu-1 NoSchedule " + reason);
        assertThat(new CountDownLatch(1).await(OUTAGE.toMillis(), TimeUnit.MILLISECONDS)).isFalse();
        assertThat(gpus.pool().faults().get("gpu-1")).isEmpty();

        gpus.driver.proxy.up();

        gpus.awaitPool(p -> p.settled(DEVICES) && p.faults().get("gpu-1").equals(reason));
    }
}
