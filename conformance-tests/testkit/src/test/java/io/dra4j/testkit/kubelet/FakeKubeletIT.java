// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.stubs.dra.v1.NodePrepareResourceResponse;
import io.dra4j.testkit.stubs.registration.v1.RegistrationStatus;
import io.grpc.Status;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kubelet with plugins that behave correctly, and with others. */
class FakeKubeletIT {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final KubeletClaim CLAIM = new KubeletClaim("ns", "claim", "uid-1");

    private Path registry;
    private Path socket;
    private ScriptedPlugin plugin;
    private FakeKubelet kubelet;

    @BeforeEach
    void start() throws IOException {
        registry = Files.createTempDirectory(Path.of("/tmp"), "dc-");
        socket = registry.resolve("gpu-reg.sock");
        plugin = new ScriptedPlugin(socket);
    }

    @AfterEach
    void stop() throws IOException {
        if (kubelet != null) {
            kubelet.close();
        }
        plugin.close();
        try (Stream<Path> left = Files.walk(registry)) {
            left.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    private void awaitRegistered() throws InterruptedException {
        assertThat(kubelet.awaitRegistered(ScriptedPlugin.DRIVER, TIMEOUT)).isTrue();
    }

    /** The first events of a kind, which are waited for. */
    private List<KubeletEvent> awaitEvents(Kind kind, int count) throws InterruptedException {
        kubelet.awaitEvents(events -> kubelet.events(kind, 0).size() >= count, TIMEOUT);
        assertThat(kubelet.events(kind, 0)).hasSizeGreaterThanOrEqualTo(count);
        return kubelet.events(kind, 0);
    }

    private void setVersions(String... versions) {
        plugin.info = plugin.info.toBuilder()
                .clearSupportedVersions()
                .addAllSupportedVersions(List.of(versions))
                .build();
    }

    private List<Kind> kinds() {
        return kubelet.events().stream()
                .map(KubeletEvent::kind)
                .filter(kind -> kind != Kind.HEALTH_ENDED)
                .toList();
    }

    @Nested
    class Handshakes {

        @Test
        void areTheKubeletsInOrderAndAuthority() throws Exception {
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();
            kubelet.prepare(ScriptedPlugin.DRIVER, List.of(CLAIM));

            String encoded = socket.toString().replace("/", "%2F");
            assertThat(plugin.calls)
                    .containsExactly(
                            encoded + " pluginregistration.Registration/GetInfo",
                            encoded + " pluginregistration.Registration/NotifyRegistrationStatus",
                            "localhost k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources");
            assertThat(plugin.awaitStatus().getPluginRegistered()).isTrue();
            assertThat(kinds()).containsExactly(Kind.SOCKET_APPEARED, Kind.INFO, Kind.REGISTERED);
        }

        @Test
        void areFollowedByTheHealthStreamOfA136KubeletAgainAndAgain() throws Exception {
            kubelet = FakeKubelet.start(registry);
            List<KubeletEvent> ends = awaitEvents(Kind.HEALTH_ENDED, 2);

            assertThat(ends).extracting(KubeletEvent::detail).containsOnly("UNIMPLEMENTED");
            assertThat(ends.get(1).at().minus(ends.get(0).at())).isGreaterThanOrEqualTo(Duration.ofSeconds(5));
        }

        @ParameterizedTest
        @CsvSource({"36, v1alpha1", "37, v1"})
        void areFollowedByAHealthStreamOfTheReleasesVersion(int minor, String version) throws Exception {
            kubelet = FakeKubelet.builder(registry).release(minor).start();
            awaitEvents(Kind.HEALTH_ENDED, 1);

            assertThat(plugin.healthCalls)
                    .containsExactly("localhost " + version + ".DRAResourceHealth/NodeWatchResources");
        }

        @ParameterizedTest
        @CsvSource({
            "ResourcePlugin, v1.DRAPlugin, no handler is registered",
            "DRAPlugin, 1.0.0, none of the plugin's versions",
        })
        void refuseAnAnswerOfTheWrongForm(String type, String version, String reason) throws Exception {
            var valid = plugin.info;
            setVersions(version);
            plugin.info = plugin.info.toBuilder().setType(type).build();
            kubelet = FakeKubelet.start(registry);

            RegistrationStatus status = plugin.awaitStatus();

            assertThat(status.getPluginRegistered()).isFalse();
            assertThat(status.getError()).contains(reason);
            plugin.info = valid;
            awaitRegistered();
        }

        @Test
        void takeTheFirstVersionThatTheKubeletKnows() throws Exception {
            setVersions("v9.DRAPlugin", "v1beta1.DRAPlugin", "v1.DRAPlugin");
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();

            assertThat(kubelet.plugin(ScriptedPlugin.DRIVER).map(PluginInfo::service))
                    .hasValue(PluginInfo.Service.V1BETA1);
        }

        @Test
        void areRepeatedAfterEachFailure() throws Exception {
            plugin.getInfoFailure = Status.UNAVAILABLE;
            kubelet = FakeKubelet.start(registry);
            awaitEvents(Kind.REGISTRATION_FAILED, 1);
            plugin.notifyFailure = Status.INTERNAL;
            plugin.getInfoFailure = Status.OK;
            awaitEvents(Kind.REGISTRATION_FAILED, 2);
            assertThat(kubelet.plugin(ScriptedPlugin.DRIVER)).isEmpty();
            plugin.notifyFailure = Status.OK;
            awaitRegistered();

            List<KubeletEvent> failed = kubelet.events(Kind.REGISTRATION_FAILED, 0);
            assertThat(failed).hasSize(2);
            assertThat(failed.get(1).at().minus(failed.get(0).at())).isGreaterThanOrEqualTo(Duration.ofMillis(500));
        }

        @Test
        void refuseASecondInstanceOnTheSameEndpoint() throws Exception {
            plugin.info = plugin.info.toBuilder().setEndpoint(socket.toString()).build();
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();

            try (ScriptedPlugin second = new ScriptedPlugin(registry.resolve("b-reg.sock"))) {
                second.info = plugin.info;
                assertThat(second.awaitStatus().getError()).contains("already registered");
            }
        }
    }

    @Nested
    class Sockets {

        @Test
        void withHiddenNamesAndFilesThatAreNoneArePassedOverAndThoseOfCsiLeftAlone() throws Exception {
            Files.writeString(registry.resolve("file-reg.sock"), "no socket");
            try (ScriptedPlugin hidden = new ScriptedPlugin(registry.resolve(".hidden.sock"));
                    ScriptedPlugin csi = new ScriptedPlugin(registry.resolve("csi-reg.sock"))) {
                csi.info = csi.info.toBuilder().setType("CSIPlugin").build();
                kubelet = FakeKubelet.start(registry);
                awaitRegistered();
                awaitEvents(Kind.REGISTRATION_FAILED, 1);

                assertThat(csi.statuses).isEmpty();
                assertThat(hidden.calls).isEmpty();
                assertThat(kubelet.events(Kind.SOCKET_APPEARED, 0)).hasSize(2);
            }
        }

        @Test
        void whoseModeChangesStayTheSame() throws Exception {
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();

            Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            try (ScriptedPlugin other = new ScriptedPlugin(registry.resolve("b-reg.sock"))) {
                other.info = other.info.toBuilder().setName("other.example.com").build();
                assertThat(kubelet.awaitRegistered("other.example.com", 0, () -> true, TIMEOUT))
                        .isTrue();
                assertThat(kubelet.awaitRegistered(ScriptedPlugin.DRIVER, 3, () -> false, Duration.ZERO))
                        .isFalse();
                assertThat(kinds())
                        .filteredOn(kind -> kind == Kind.UNREGISTERED)
                        .isEmpty();
            }
        }

        @Test
        void ofAKilledInstanceIsNotThatOfTheOneWhichIsCalled() throws Exception {
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();
            Path dead = registry.resolve("b-reg.sock");
            try (ScriptedPlugin newer = new ScriptedPlugin(registry.resolve(".b.sock"))) {
                Files.createLink(dead, registry.resolve(".b.sock")); // stays when the other name goes
                awaitEvents(Kind.REGISTERED, 2);
                assertThat(kubelet.registration(ScriptedPlugin.DRIVER)).hasValue(dead);
                assertThat(newer.awaitStatus().getPluginRegistered()).isTrue();
            }

            assertThat(kubelet.awaitEvents(
                            all -> kubelet.registration(ScriptedPlugin.DRIVER).equals(Optional.of(socket)), TIMEOUT))
                    .isTrue();
            assertThat(dead).exists();
        }

        @Test
        void thatGoAndComeAreUnregisteredAndRegistered() throws Exception {
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();
            plugin.close();
            Files.deleteIfExists(socket);
            assertThat(kubelet.awaitUnregistered(ScriptedPlugin.DRIVER, TIMEOUT))
                    .isTrue();

            plugin = new ScriptedPlugin(socket);
            awaitRegistered();
        }
    }

    @Nested
    class Answers {

        @BeforeEach
        void register() throws InterruptedException {
            kubelet = FakeKubelet.start(registry);
            awaitRegistered();
        }

        private String complaint() {
            return kubelet.prepare(ScriptedPlugin.DRIVER, List.of(CLAIM))
                    .complaint()
                    .orElse("");
        }

        @ParameterizedTest
        @CsvSource({
            "uid-1, '', ''",
            "uid-2, '', unknown claim UID uid-2",
            "uid-1, no such device, uid-1: no such device",
        })
        void areComplainedAboutByTheirClaim(String uid, String error, String complaint) {
            answerFor(uid, error);
            assertThat(complaint()).contains(complaint);
            assertThat(complaint().isEmpty()).isEqualTo(complaint.isEmpty());
        }

        @Test
        void thatAreMissingAreCounted() {
            assertThat(complaint()).contains("skipped 1");
        }

        @Test
        void areTheSameInV1beta1UnderItsOwnName() {
            answerFor("uid-1", "no such device");
            List<KubeletClaim> claims = List.of(CLAIM);
            CallResult inV1 = kubelet.prepare(ScriptedPlugin.DRIVER, claims);
            PluginInfo.Service older = PluginInfo.Service.V1BETA1;

            assertThat(kubelet.prepare(ScriptedPlugin.DRIVER, claims, older)).isEqualTo(inV1);
            assertThat(plugin.calls)
                    .endsWith("localhost k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources");
        }

        private void answerFor(String uid, String error) {
            var result =
                    NodePrepareResourceResponse.newBuilder().setError(error).build();
            plugin.prepared =
                    answer -> answer.toBuilder().putClaims(uid, result).build();
        }
    }
}
