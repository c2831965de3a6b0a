// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.device.Taint.Effect;
import io.dra4j.api.error.DraException;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.http.HttpPages;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Isolated
class DraDriverTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(CompositeMeterRegistry.class, Level.WARN);

    private static DraDriver.Builder builder() {
        return DraDriver.builder("gpu.example.com", "node-a", new ProviderWithoutClaims());
    }

    @ParameterizedTest
    @ValueSource(strings = {"../x", "a/b", "a b", ".", "-a", "a-", "ü", "\0"})
    void isNotBuiltWithWhatIsNoUidOfAPod(String uid) {
        assertThatThrownBy(() -> builder().podUid(uid).build())
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("Not the UID of a pod: \"" + uid + "\"; use metadata.uid");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0f8fad5b-d9cb-469f-a165-70867728950e", "0123456789abcdef0123456789abcdef", "pod-1"})
    void isBuiltWithTheUidOfAPodOrNone(String uid) {
        assertThat(builder().podUid(uid).build()).isNotNull();
    }

    @Test
    void isNotBuiltWithAPortThatDoesNotExistOrATaintThatIsNeverUsed() {
        assertThatThrownBy(() -> builder().healthcheckPort(65536).build())
                .isInstanceOf(DraException.class)
                .hasMessage("Not a TCP port: 65536; use one up to 65535");
        assertThatThrownBy(() -> builder().taintUnhealthy(Effect.NONE).build())
                .hasMessageContaining("call healthService()");
        assertThat(builder().healthcheckPort(-7).build()).isNotNull();
    }

    /** One endpoint of each: Prometheus counts nothing of a driver twice. */
    @Test
    void servesItsOwnMetricsAtThePortThatWasBound() throws Exception {
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start();
                DraDriver one = driver("one.example.com", api, new ProviderWithoutClaims());
                DraDriver two = driver("two.example.com", api, new ProviderWithoutClaims())) {
            one.start();
            two.start();
            assertThat(driversIn(one)).containsOnly("one.example.com");
            assertThat(driversIn(two)).containsOnly("two.example.com");
            assertThat(one.healthcheckPort().orElseThrow())
                    .isPositive()
                    .isNotEqualTo(two.healthcheckPort().orElseThrow());
            assertThat(log.list).isEmpty();
        }
    }

    @Test
    void thatDoesNotStartSaysWhyAlsoIfItsProviderFailsToClose() throws Exception {
        var provider = new ProviderWithoutClaims.NeverStarted();
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start();
                DraDriver driver = driver("no.example.com", api, provider)) {
            assertThatThrownBy(driver::start)
                    .hasMessage("no bus")
                    .hasSuppressedException(new NullPointerException("watch"));
            assertThatThrownBy(driver::start).hasMessageContaining("only once");
        }
        assertThat(provider.closed).isOne();
    }

    @Test
    void thatFailsBeforeItsProviderStartsClosesIt() {
        Path none = Path.of("/proc/none");
        var provider = new ProviderWithoutClaims.NeverStarted();
        DraDriver driver = DraDriver.builder("gpu.example.com", "a", provider)
                .kubeletPluginsDirectory(none)
                .build();
        assertThatThrownBy(driver::start).isInstanceOf(DraException.class);
        PoolController pools = PoolController.of("no", provider).kubeconfig(Optional.of(none));
        assertThatThrownBy(pools::start).isInstanceOf(DraException.class);
        assertThat(provider.closed).isEqualTo(2);
    }

    private static DraDriver driver(String name, EmbeddedApiServer api, DeviceProvider provider) throws IOException {
        Place place = Place.create("node-1", name);
        return DraDriver.builder(name, "node-1", provider)
                .kubeconfig(api.writeKubeconfig(place.kubeconfig()))
                .cdiRoot(place.cdi())
                .kubeletPluginsDirectory(place.plugins())
                .kubeletRegistrarDirectory(place.registry())
                .healthService()
                .httpEndpoint("127.0.0.1:0")
                .healthcheckPort(0)
                .build();
    }

    private static Stream<String> driversIn(DraDriver driver) throws Exception {
        String metrics =
                HttpPages.at(driver.httpPort().orElseThrow()).get("/metrics").body();
        return Pattern.compile("driver=\"([^\"]*)\"").matcher(metrics).results().map(match -> match.group(1));
    }

    @Test
    void isNotBuiltWithoutTheMetadataThatReadersRelyOn() {
        assertThatThrownBy(() -> builder().metadataVersions(MetadataVersion.V1ALPHA1))
                .isInstanceOf(DraException.class)
                .hasMessageStartingWith("metadataVersions: V1BETA1 is missing from [V1ALPHA1]");
        assertThatThrownBy(() -> builder().metadataVersions()).isInstanceOf(DraException.class);
        assertThat(builder().metadataVersions(MetadataVersion.V1BETA1).build()).isNotNull();
    }
}
