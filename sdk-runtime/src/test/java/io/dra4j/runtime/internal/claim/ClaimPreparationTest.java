// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.LoggedEvents;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.DeviceResult;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.PreparedResults.PreparedCheck;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ClaimPreparationTest extends ScenarioNode {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(PreparedCheck.class, Level.WARN);

    @BeforeEach
    void allocate() {
        node.allocate(A, "gpu-0");
        node.allocate(B, "gpu-1");
    }

    @Scenarios("claim-preparation.txt")
    void claimsArePreparedAndUnprepared(String scenario) throws Exception {
        play(scenario);
    }

    @Nested
    class Prepare {

        @Test
        void answersTheDevicesWithTheirBaseRequestsAndCdiDevices() throws IOException {
            String id = "k8s.gpu.example.com/claim=uid-a-gpu-0";
            DeviceResult gpu = new DeviceResult(List.of("r"), "node", "gpu-0", List.of(id), null);

            assertThat(node.prepare(A)).isEqualTo(new Prepared(List.of(gpu)));
            assertThat(node.specs()).containsExactly("uid-a");
        }

        @Test
        void saysStartedBeforeTheProviderWorksAndPreparedAfterwards() {
            provider.hardware = List.of("GPU-x");
            provider.onPrepare = (claim, context) -> {
                provider.calls.add("" + node.phase(A));
                assertThat(physicalIds()).containsExactly("GPU-x");
            };

            node.prepare(A);

            assertThat(provider.calls).containsExactly("prepare uid-a", "PREPARING");
            assertThat(node.phase(A)).isEqualTo(Phase.PREPARED);
            assertThat(physicalIds()).containsExactly("GPU-x");
        }

        private List<String> physicalIds() {
            return node.journal.claim(A.uid()).orElseThrow().devices().stream()
                    .map(HeldDevice::physicalId)
                    .toList();
        }

        @Test
        void withoutAThreadIsRefusedAndLeavesNothing() {
            AtomicBoolean isScarce = new AtomicBoolean(true);
            Executor threads = task -> {
                if (isScarce.get()) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                node.executor.execute(task);
            };
            node.claims = new ClaimPreparation(
                    node.context(), threads, uids -> node.journal.group(uids, node.timeout), () -> node.now);

            assertThat(node.prepare(A)).isInstanceOf(PrepareOutcome.Failed.class);
            isScarce.set(false);
            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
        }

        static Stream<Arguments> failures() {
            String forTheOwner = "the driver could not prepare the claim; see its log";
            return Stream.of(
                    arguments(new PrepareException("too hot"), "too hot"),
                    arguments(new IOException("secret path"), forTheOwner),
                    arguments(new StackOverflowError("vendor.Lib"), forTheOwner));
        }

        @ParameterizedTest
        @MethodSource("failures")
        void thatTheProviderFailsIsUndoneAndLeavesNothing(Throwable failure, String message) throws IOException {
            provider.failPrepare(failure);

            assertThat(message(node.prepare(A))).isEqualTo(message);

            assertThat(provider.calls).containsExactly("prepare uid-a", "unprepare uid-a");
            assertThat(node.claims.held()).isEmpty();
            assertThat(node.specs()).isEmpty();
            provider.onPrepare = (claim, context) -> {};
            node.allocate(B, "gpu-0");
            assertThat(node.prepare(B)).isInstanceOf(Prepared.class);
        }

        @Test
        void ofABatchFailsClaimByClaim() {
            node.allocate(A, "no-such");

            var outcomes = node.prepare(Duration.ofSeconds(20), List.of(A, B));

            assertThat(message(outcomes.get(A))).isEqualTo("pool node has no device no-such");
            assertThat(outcomes.get(B)).isInstanceOf(Prepared.class);
        }

        static Stream<Arguments> mistakes() {
            return Stream.of(
                    mistake(
                            "claim's, or returned one twice: gpu-0",
                            right -> PreparedClaim.of(List.of(
                                    right.devices().get(0), right.devices().get(0)))),
                    mistake("prepare() returned null; it must", right -> null),
                    mistake("has a state of 2 characters", right -> right.withState(new ProviderState(1, "{}"))),
                    mistake(
                            "returned 1 of the claim's 2 devices",
                            right -> right.toBuilder()
                                    .devices(right.devices().subList(0, 1))
                                    .build()),
                    mistake(
                            "each other: device node /dev/x is",
                            right -> each(
                                    right,
                                    (edits, name) -> edits.deviceNode(DeviceNode.builder("/dev/x")
                                            .hostPath("/dev/" + name)
                                            .build()))),
                    mistake(
                            "mount on /x is Mount",
                            right -> each(right, (edits, name) -> edits.mount(Mount.readOnly("/" + name, "/x")))),
                    mistake(
                            "interface net1 is NetDevice",
                            right -> each(right, (edits, name) -> edits.netDevice(new NetDevice(name, "net1")))));
        }

        private static Arguments mistake(String message, UnaryOperator<PreparedClaim> results) {
            return arguments(message, results);
        }

        private static PreparedClaim each(PreparedClaim right, BiConsumer<ContainerEdits.Builder, String> edit) {
            return PreparedClaim.of(right.devices().stream()
                    .map(device -> {
                        ContainerEdits.Builder edits = ContainerEdits.builder();
                        edit.accept(edits, device.allocated().device().value());
                        return PreparedDevice.of(device.allocated(), edits.build());
                    })
                    .toList());
        }

        @ParameterizedTest
        @MethodSource("mistakes")
        void withAMistakeOfTheProviderIsRefusedAndUndone(String message, UnaryOperator<PreparedClaim> results) {
            node.allocate(A, "gpu-0", "gpu-1");
            provider.changesNothing = true;
            provider.results = results;

            assertThat(message(node.prepare(A))).contains(message);
            assertThat(provider.calls).containsExactly("prepare uid-a", "unprepare uid-a");
        }

        @Test
        void mayGiveOneNodeToDevicesOfARequestAndOnePathToThoseOfTwo() {
            Result other = new Result(NodeUnderTest.DRIVER, "r2", "node", "gpu-1", null, Map.of(), false, Set.of());
            node.allocate(A, NodeUnderTest.result("gpu-0"), other);
            provider.results = right -> each(
                    right,
                    (edits, name) -> edits.env("TOKEN", "secret of " + name)
                            .deviceNode(DeviceNode.of("/dev/ctl"))
                            .mount(Mount.readOnly("/" + name, "/x")));

            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
            assertThat(log.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .noneMatch(message -> message.contains("secret"))
                    .anyMatch(message -> message.contains("TOKEN differs between device gpu-0 and device gpu-1 of"));
        }

        @Test
        void thatOutlastsTheDeadlineGoesOnAndIsJoinedByTheRetry() {
            CountDownLatch release = new CountDownLatch(1);
            provider.onPrepare = (claim, context) -> release.await();

            PrepareOutcome late =
                    node.prepare(Duration.ofMillis(50), List.of(A)).get(A);
            assertThat(message(late)).contains("still working on the claim");

            release.countDown();
            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);
            assertThat(provider.calls).containsExactly("prepare uid-a");
        }

        /** Earlier builds recorded the names of capacities as the scheduler writes them. */
        @Test
        void ofAClaimThatIsRecordedByTheLongNameOfACapacityAnswersTheSame() {
            String memory = NodeUnderTest.DRIVER + "/memory";
            Map<String, Quantity> consumed = Map.of(memory, Quantity.of(1));
            node.allocate(A, new Result(NodeUnderTest.DRIVER, "r", "node", "gpu-0", null, consumed, false, Set.of()));
            node.prepare(A);
            ClaimRecord now = node.journal.claim(A.uid()).orElseThrow();
            HeldDevice before =
                    now.devices().get(0).toBuilder().consumedCapacity(consumed).build();
            assertThat(before).isNotEqualTo(now.devices().get(0));
            node.journal.put(new ClaimRecord(
                    A, now.phase(), now.bootId(), List.of(before), null, now.results(), null, null, null));

            assertThat(node.prepare(A)).isInstanceOf(Prepared.class);

            assertThat(provider.calls).containsExactly("prepare uid-a");
        }
    }
}
