// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.DeviceStatus.Truth;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClaimReportsTest {

    private static final ClaimRef CLAIM = new ClaimRef("ns", "claim", "uid-1");
    private static final DeviceStatus READY =
            DeviceStatus.of(new Condition("Ready", Truth.TRUE, "Up", ""));
    private static final DeviceStatus BROKEN =
            DeviceStatus.of(new Condition("Ready", Truth.FALSE, "Down", "unplugged"));
    private static final DeviceMetadata EMPTY = new DeviceMetadata(Map.of(), null);
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir Path directory;

    private final FakeStatuses statuses = new FakeStatuses();
    private final ManualLoop loop = new ManualLoop();
    private final Map<ClaimRef, HeldClaim> held = new HashMap<>();
    private final AllocatedDevice gpu0 = device("r", null, "gpu-0");
    private final AllocatedDevice gpu1 = device("r", null, "gpu-1");
    private ClaimReports reports;

    @BeforeEach
    void start() {
        reports =
                new ClaimReports(
                        new ClaimReports.Parts(
                                "gpu.example.com",
                                "node",
                                directory,
                                ref -> Optional.ofNullable(held.get(ref)),
                                statuses,
                                loop),
                        loop);
        hold(Phase.PREPARED, gpu0, gpu1);
    }

    private static AllocatedDevice device(String request, @Nullable String sub, String name) {
        return new AllocatedDevice(
                request,
                sub,
                new PoolName("node"),
                new DeviceName(name),
                null,
                Map.of(),
                false,
                null,
                List.of());
    }

    private void hold(Phase phase, AllocatedDevice... devices) {
        List<HeldDevice> all = Stream.of(devices).map(AllocatedDevice::held).toList();
        held.put(CLAIM, new HeldClaim(CLAIM, phase, false, all, null));
    }

    private PreparedClaim prepare(String json, PreparedDevice... devices) {
        List<AllocatedDevice> allocated =
                Stream.of(devices).map(PreparedDevice::allocated).toList();
        PreparedClaim answer =
                reports.prepared(
                        new AllocatedClaim(CLAIM, allocated, json),
                        PreparedClaim.of(List.of(devices)));
        reports.reestablish(CLAIM.uid());
        return answer;
    }

    private static PreparedDevice plain(AllocatedDevice device) {
        return PreparedDevice.of(device, ContainerEdits.NONE);
    }

    private void run() {
        loop.advance(Duration.ZERO);
    }

    private JsonNode entry(int index) throws IOException {
        return JSON.readTree(statuses.last().devices().get(index));
    }

    @Nested
    class Status {

        @Test
        void isAppliedLaterAndOnce() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY), plain(gpu1));
            assertThat(statuses.tries).isZero();

            run();
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            run();

            assertThat(statuses.applied).hasSize(1);
            assertThat(statuses.last().fieldManager()).isEqualTo("gpu.example.com/node");
            assertThat(entry(0))
                    .isEqualTo(
                            JSON.readTree(
                                    """
                                    {"driver":"gpu.example.com","pool":"node","device":"gpu-0",
                                     "conditions":[{"type":"Ready","status":"True","reason":"Up","message":"",
                                       "lastTransitionTime":"2026-11-21T00:00:00Z"}]}
                                    """));
        }

        @Test
        void carriesDataAndNetworkData() throws IOException {
            NetworkData network =
                    new NetworkData("eth0", List.of("10.0.0.5/24", "fd00::1/64"), "02:00");
            prepare(
                    "{}",
                    plain(gpu0).withStatus(new DeviceStatus(List.of(), "{\"a\":1.50}", network)));
            run();

            assertThat(entry(0).path("data").toString()).isEqualTo("{\"a\":1.5}");
            assertThat(entry(0).path("networkData").toString())
                    .isEqualTo(
                            "{\"interfaceName\":\"eth0\",\"ips\":[\"10.0.0.5/24\",\"fd00::1/64\"],\"hardwareAddress\":\"02:00\"}");
        }

        @Test
        void keepsTheTimeOfAConditionUntilItChanges() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofHours(1));
            reports.updateStatus(
                    CLAIM,
                    gpu0.held(),
                    DeviceStatus.of(new Condition("Ready", Truth.TRUE, "StillUp", "")));
            run();
            assertThat(entry(0).at("/conditions/0/lastTransitionTime").asText())
                    .isEqualTo("2026-11-21T00:00:00Z");

            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            run();
            assertThat(entry(0).at("/conditions/0/lastTransitionTime").asText())
                    .isEqualTo("2026-11-21T01:00:00Z");
        }

        @Test
        void ofOneDeviceIsUpdatedBesideThatOfAnother() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY), plain(gpu1).withStatus(READY));
            reports.updateStatus(CLAIM, gpu1.held(), BROKEN);
            run();

            assertThat(statuses.applied).hasSize(1);
            assertThat(entry(0).at("/conditions/0/status").asText()).isEqualTo("True");
            assertThat(entry(1).at("/conditions/0/status").asText()).isEqualTo("False");
        }

        @Test
        void survivesARestart() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY), plain(gpu1).withStatus(READY));
            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            start();
            run(); // what the first life still had to do
            int before = statuses.applied.size();

            reports.reestablish("uid-1");
            run();

            assertThat(statuses.applied).hasSize(before + 1);
            assertThat(entry(0).at("/conditions/0/status").asText()).isEqualTo("True");
            assertThat(entry(1).at("/conditions/0/status").asText()).isEqualTo("False");
        }

        @Test
        void thatWasReportedWhileTheClaimIsPreparedIsAppliedAfterwards() throws IOException {
            hold(Phase.STARTED, gpu0);
            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            run();
            assertThat(statuses.tries).isZero();

            prepare("{}", plain(gpu0));
            run();
            assertThat(entry(0).at("/conditions/0/status").asText()).isEqualTo("False");
        }

        @Test
        void ofADeviceThatTheClaimDoesNotHoldIsDropped() throws IOException {
            hold(Phase.PREPARED, gpu1);
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            hold(Phase.UNPREPARING, gpu0);
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            held.clear();
            reports.updateStatus(CLAIM, gpu0.held(), READY);
            run();

            assertThat(statuses.tries).isZero();
            assertThat(directory).isEmptyDirectory();
        }

        @Test
        void isRemovedWhenTheClaimEnds() {
            prepare("{}", plain(gpu0).withStatus(READY));
            run();

            reports.end(CLAIM.uid());
            run();

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(statuses.applied).hasSize(2);
            assertThat(directory.resolve("reports")).isEmptyDirectory();
        }

        @Test
        void ofAClaimThatNeverHadOneIsNotRemoved() {
            reports.end(CLAIM.uid());
            run();

            assertThat(statuses.tries).isZero();
        }

        @Test
        void thatTheApiWouldRefuseIsLeftOutOfAPrepareAndThrownAtAnUpdate() {
            DeviceStatus bad = DeviceStatus.of(new Condition("Ready", Truth.TRUE, "no reason", ""));

            prepare("{}", plain(gpu0).withStatus(bad), plain(gpu1).withStatus(READY));
            run();

            assertThat(statuses.last().devices()).hasSize(1);
            assertThatThrownBy(() -> reports.updateStatus(CLAIM, gpu0.held(), bad))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("no reason");
        }
    }

    @Nested
    class Failures {

        @Test
        void areRetriedLessAndLessOften() {
            statuses.fail(9, 403);
            prepare("{}", plain(gpu0).withStatus(READY));

            List<Integer> tries = new ArrayList<>();
            for (int seconds : List.of(0, 1, 2, 4, 8, 16, 32, 64, 120, 120)) {
                loop.advance(Duration.ofSeconds(seconds));
                tries.add(statuses.tries);
            }

            assertThat(tries).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
            assertThat(statuses.applied).hasSize(1);
            assertThat(loop.waiting()).isZero();
        }

        @Test
        void makeWayForWhatIsWantedNow() {
            statuses.fail(5, 500);
            prepare("{}", plain(gpu0).withStatus(READY));
            run();
            statuses.failures.clear();

            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            run();
            loop.advance(Duration.ofHours(1));

            assertThat(statuses.applied).hasSize(1);
            assertThat(statuses.last().devices().get(0)).contains("unplugged");
        }

        @Test
        void ofAConflictAreRetriedWhileTheClaimIsTheSame() {
            statuses.fail(1, 409);
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofSeconds(1));
            assertThat(statuses.applied).hasSize(1);

            statuses.gone.add(CLAIM);
            statuses.fail(1, 409);
            reports.updateStatus(CLAIM, gpu0.held(), BROKEN);
            loop.advance(Duration.ofHours(1));
            assertThat(statuses.applied).hasSize(1);
        }

        @Test
        void thatAreFinalAreNotRetried() {
            statuses.fail(1, 422);
            prepare("{}", plain(gpu0).withStatus(READY));
            loop.advance(Duration.ofHours(1));

            assertThat(statuses.tries).isEqualTo(1);
        }

        @Test
        void whileAClaimEndsAreTriedAgainAfterARestart() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            run();
            reports.end(CLAIM.uid()); // the process ends before the API server hears of it
            loop.forget();
            start();

            assertThat(reports.claimUids()).containsExactly("uid-1");
            reports.end("uid-1");
            statuses.fail(1, 503);
            loop.advance(Duration.ofMinutes(1));

            assertThat(statuses.last().devices()).isEmpty();
            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void ofAnEarlierStatusAreNotTriedAgainOnceTheClaimHasEnded() throws IOException {
            statuses.fail(1, 503);
            prepare("{}", plain(gpu0).withStatus(READY));
            run();
            new ReportFiles(directory.resolve("reports")).remove("uid-1"); // by another process

            loop.advance(Duration.ofMinutes(1));

            assertThat(statuses.last().devices()).isEmpty();
        }

        @Test
        void ofAnOddDirectoryConcernReportsAlone() throws IOException {
            Files.writeString(directory.resolve("reports"), "no directory");

            assertThat(prepare("{}", plain(gpu0)).devices()).hasSize(1);
            reports.end(CLAIM.uid());

            assertThatThrownBy(() -> prepare("{}", plain(gpu0).withStatus(READY)))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("reports");
        }

        @Test
        void ofAReportThatSaysNothingCountAsNone() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            Files.writeString(directory.resolve("reports/uid-1.json"), "null");

            reports.reestablish("uid-1");
            reports.end("uid-1");

            assertThat(reports.claimUids()).isEmpty();
        }

        @Test
        void ofTheDiskNeverEndAStartOrKeepAClaim() throws IOException {
            prepare("{}", plain(gpu0).withStatus(READY));
            Files.writeString(directory.resolve("reports/uid-1.json"), "{torn");
            Files.createDirectories(directory.resolve("reports/uid-2.json/x"));

            assertThat(reports.claimUids()).contains("uid-1", "uid-2");
            reports.reestablish("uid-1");

            assertThat(directory.resolve("reports/uid-2.json")).exists();
            reports.end(CLAIM.uid());
            assertThat(directory.resolve("reports/uid-1.json")).doesNotExist();
        }
    }

    @Nested
    class Metadata {

        private JsonNode read(Path file) throws IOException {
            try (var objects = JSON.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile())) {
                return objects.next();
            }
        }

        private static Mount mount(PreparedClaim claim, int device) {
            return claim.devices().get(device).edits().mounts().get(0);
        }

        @Test
        void isAFileForEachRequestThatContainersSee() throws IOException {
            AllocatedDevice nic = device("nic", "fast", "nic-0");
            DeviceMetadata attributes =
                    new DeviceMetadata(
                            Map.of(
                                    "model", AttributeValue.of("A"),
                                    "index", AttributeValue.of(3),
                                    "driver", AttributeValue.version("1.0.0"),
                                    "cores", new AttributeValue.OfInts(List.of(1L, 2L))),
                            null);
            NetworkData network = new NetworkData("eth0", List.of("10.0.0.5/24"), null);
            PreparedClaim answer =
                    prepare(
                            "{}",
                            plain(gpu0).withMetadata(attributes),
                            plain(gpu1).withMetadata(EMPTY),
                            plain(nic).withMetadata(new DeviceMetadata(Map.of(), network)));

            assertThat(answer.devices().get(1).edits().mounts()).isEmpty();
            Mount gpus = mount(answer, 0);
            assertThat(gpus.containerPath())
                    .isEqualTo(
                            "/var/run/kubernetes.io/dra-device-attributes/resourceclaims/claim/r/gpu.example.com-metadata.json");
            assertThat(gpus.options()).containsExactly("ro", "bind");
            Path file = Path.of(gpus.hostPath());
            assertThat(file).hasParent(directory.resolve("dra-device-metadata/uid-1/r"));
            assertThat(Files.getPosixFilePermissions(file))
                    .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
            assertThat(Files.readString(file))
                    .isEqualTo(
                            """
                            {
                              "apiVersion" : "metadata.resource.k8s.io/v1beta1",
                              "kind" : "DeviceMetadata",
                              "metadata" : {
                                "name" : "claim",
                                "namespace" : "ns",
                                "uid" : "uid-1",
                                "generation" : 1
                              },
                              "requests" : [
                                {
                                  "name" : "r",
                                  "devices" : [
                                    {
                                      "driver" : "gpu.example.com",
                                      "pool" : "node",
                                      "name" : "gpu-0",
                                      "attributes" : {
                                        "cores" : {
                                          "ints" : [
                                            1,
                                            2
                                          ]
                                        },
                                        "driver" : {
                                          "version" : "1.0.0"
                                        },
                                        "index" : {
                                          "int" : 3
                                        },
                                        "model" : {
                                          "string" : "A"
                                        }
                                      }
                                    },
                                    {
                                      "driver" : "gpu.example.com",
                                      "pool" : "node",
                                      "name" : "gpu-1"
                                    }
                                  ]
                                }
                              ]
                            }
                            {
                            """
                                    + Files.readString(file).split("\n\\{\n", 2)[1]);
            assertThat(Files.readString(file))
                    .contains("\"metadata.resource.k8s.io/v1alpha1\"")
                    .endsWith("}\n");
            assertThat(read(Path.of(mount(answer, 2).hostPath())).path("requests").toString())
                    .isEqualTo(
                            "[{\"name\":\"nic/fast\",\"devices\":[{\"driver\":\"gpu.example.com\",\"pool\":\"node\",\"name\":\"nic-0\","
                                    + "\"networkData\":{\"interfaceName\":\"eth0\",\"ips\":[\"10.0.0.5/24\"]}}]}]");
        }

        @Test
        void ofAClaimFromATemplateIsFoundByThePodsNameForIt() throws IOException {
            String claim =
                    "{\"metadata\":{\"annotations\":{\"resource.kubernetes.io/pod-claim-name\":\"%s\"}}}";
            Mount named =
                    mount(prepare(claim.formatted("mine"), plain(gpu0).withMetadata(EMPTY)), 0);
            Mount odd = mount(prepare(claim.formatted("../x"), plain(gpu0).withMetadata(EMPTY)), 0);

            assertThat(named.containerPath()).contains("/resourceclaimtemplates/mine/r/");
            assertThat(odd.containerPath()).contains("/resourceclaims/claim/r/");
        }

        @Test
        void isWrittenOverInPlaceWhenItChanges() throws IOException {
            Path file =
                    Path.of(mount(prepare("{}", plain(gpu0).withMetadata(EMPTY)), 0).hostPath());
            Object inode = Files.getAttribute(file, "unix:ino");
            reports.updateMetadata(
                    CLAIM,
                    gpu0.held(),
                    new DeviceMetadata(Map.of("a", AttributeValue.of("x".repeat(60))), null));
            assertThat(read(file).at("/metadata/generation").asInt()).isEqualTo(2);
            assertThat(read(file).at("/requests/0/devices/0/attributes/a/string").asText())
                    .startsWith("xxx");

            reports.updateMetadata(CLAIM, gpu0.held(), EMPTY);
            reports.updateMetadata(CLAIM, gpu0.held(), EMPTY);
            reports.reestablish(CLAIM.uid());
            assertThat(read(file).at("/metadata/generation").asInt()).isEqualTo(3);
            assertThat(Files.getAttribute(file, "unix:ino")).isEqualTo(inode);
        }

        @Test
        void thatIsLostIsWrittenAgain() throws IOException {
            Path file =
                    Path.of(mount(prepare("{}", plain(gpu0).withMetadata(EMPTY)), 0).hostPath());
            String content = Files.readString(file);
            Files.delete(file);

            reports.reestablish(CLAIM.uid());

            assertThat(file).hasContent(content);
        }

        @Test
        void ofADeviceThatWasPreparedWithoutIsRefused() {
            prepare("{}", plain(gpu0).withStatus(READY));

            assertThatThrownBy(() -> reports.updateMetadata(CLAIM, gpu0.held(), EMPTY))
                    .isInstanceOf(DraException.class)
                    .hasMessageContaining("answer metadata in prepare");
        }

        @Test
        void goesWithTheClaim() throws IOException {
            prepare("{}", plain(gpu0).withMetadata(EMPTY));
            reports.end(CLAIM.uid());
            run();

            assertThat(directory.resolve("dra-device-metadata")).isEmptyDirectory();
            assertThat(statuses.tries).isZero();
        }

        @Test
        void ofWhatIsNoUidIsNotLookedFor() throws IOException {
            Path other = Files.writeString(directory.resolve("other"), "");
            Files.createDirectories(directory.resolve("dra-device-metadata/a b"));

            assertThat(reports.claimUids()).isEmpty();
            for (String odd : List.of("", ".", "..", "../other", "a/b", "/etc", "a\0b")) {
                assertThatThrownBy(() -> ClaimUid.in(directory, odd, ""))
                        .isInstanceOf(DraException.class);
            }

            assertThat(other).exists();
            assertThat(directory.resolve("dra-device-metadata/a b")).exists();
        }

        @Test
        void neverLeavesItsDirectory() {
            assertThatThrownBy(
                            () ->
                                    prepare(
                                            "{}",
                                            plain(device("../../r", null, "gpu-0"))
                                                    .withMetadata(EMPTY)))
                    .isInstanceOf(DraException.class);
        }
    }
}
