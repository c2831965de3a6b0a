// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class ProbesIT {

    private static final Settings SLOW = SettingsReader.parse(
            "{timeoutFactor: 1.4, driver: {name: gpu.example.com, process: {command: [x]}}}", "the test", Map.of());

    @AutoClose
    private final TestContext context = TestContext.open(SLOW, DriverAdapters.of(SLOW.driver()), "slow");

    @Test
    void poolsThatMeetAConditionForAMomentDidMeetIt() throws Exception {
        AtomicInteger looks = new AtomicInteger();

        assertThat(new Publishing(context).await(seen -> looks.getAndIncrement() == 0, Duration.ZERO))
                .isPresent();
    }

    @Test
    void slicesThatOthersPlantHaveTheLabelOfTheSuite() {
        new PlantedSlices(context).sentinels("pool");

        assertThat(context.cluster()
                        .list(Publishing.SLICES, "labelSelector=app.kubernetes.io/managed-by=dra-conformance"))
                .hasSize(3);
    }

    @Test
    void nothingThatCanBeCountedIsRemarked() {
        new ProcessCount(OptionalLong.empty(), 0, 0).checkGrowth(context, 1, 1);

        assertThat(context.takeRemark()).contains("leaks were not looked for");
    }

    @Test
    void theTimeForAnAnswerIsThatOfTheMachine() throws Exception {
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(context.place().registry().resolve("gpu-reg.sock")));
            context.kubelet().awaitEvents(events -> !events.isEmpty(), Duration.ofSeconds(30));
            RegistrationSocket socket = RegistrationSocket.of(context);

            long begin = System.nanoTime();
            assertThatThrownBy(socket::info).isInstanceOf(Violation.class).hasMessageContaining("DEADLINE_EXCEEDED");

            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isGreaterThan(Duration.ofSeconds(6));
        }
    }
}
