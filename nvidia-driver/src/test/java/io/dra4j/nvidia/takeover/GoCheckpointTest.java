// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Entry;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.Group;
import io.dra4j.nvidia.takeover.GoCheckpointWriter.MigEntry;
import io.dra4j.nvidia.takeover.GoClaim.GoDevice;
import io.dra4j.nvidia.takeover.GoClaim.GoDevice.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GoCheckpointTest {

    private static final String A = "067798be-454e-4be4-9047-1aa06aea63f7";
    private static final String B = "4cf8db2d-06c0-7d70-1a51-e59b25b2c16c";

    private static HeldDevice device(String name) {
        return HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName(name))
                .build();
    }

    private static byte[] written() {
        return written(GoForm.of("0.5"));
    }

    private static byte[] written(GoForm form) {
        GoCheckpointWriter writer = new GoCheckpointWriter("gpu.nvidia.com", "boot-1", form);
        writer.add(
                B,
                List.of(new Group(
                        List.of(new Entry(
                                device("gpu-1-mig-1g10gb-19-3"),
                                "MIG-1",
                                new MigEntry(1, 3, 0, "GPU-1", "0000:17:00.0"))),
                        false)));
        writer.add(A, List.of(new Group(List.of(new Entry(device("gpu-0"), "GPU-0", null)), true)));
        return writer.toBytes();
    }

    private static GoClaim gpu(String uid) {
        String id = "k8s.gpu.nvidia.com/claim=" + uid + "-gpu-0";
        return new GoClaim(
                uid,
                true,
                List.of("gpu-0"),
                List.of(new GoDevice(Kind.GPU, "gpu-0", "GPU-0", false, List.of(id))),
                List.of(),
                false);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void theSumIsFnv1aOfThePrintedBytes() {
        // of "a" and "foobar", by the authors of FNV
        assertThat(GoChecksum.fnv(bytes("a"))).isEqualTo(0xe40c292cL);
        assertThat(GoChecksum.fnv(bytes("foobar"))).isEqualTo(0xbf9cf968L);
        assertThat(GoChecksum.of(bytes("{}"))).isEqualTo(GoChecksum.fnv(bytes("([]uint8)[123 125]")));
    }

    @Test
    void whatIsWrittenIsRead() {
        GoCheckpoint read = GoCheckpoint.decode(written());

        assertThat(read.bootId()).isEqualTo("boot-1");
        assertThat(read.claims()).hasSize(2).contains(gpu(A));
        assertThat(read.claims().get(1).devices().get(0).kind()).isEqualTo(Kind.MIG);
        assertThat(read.claims().get(1).devices().get(0).uuid()).isEqualTo("MIG-1");
    }

    /** Each resource is what the release's types give as JSON, with sums of another implementation. */
    @ParameterizedTest
    @ValueSource(strings = {"25.12", "0.4.0", "0.4.1", "0.5", "0.5.0-dev"})
    void eachReleaseHasItsFormAndGetsItBack(String release, @TempDir Path folder) throws Exception {
        Path ofRelease = Path.of("src/test/resources/io/dra4j/nvidia/takeover/" + release + ".json");

        assertThat(written(GoForm.of(release))).isEqualTo(Files.readAllBytes(ofRelease));
        assertThat(GoForm.ofTakenOver(ofRelease)).isEqualTo(GoForm.of(release));
        assertThat(GoCheckpoint.read(ofRelease).orElseThrow().claims())
                .isEqualTo(GoCheckpoint.decode(written()).claims());
        assertThat(GoForm.ofTakenOver(folder.resolve("none"))).isEqualTo(GoForm.of("25.12"));
    }

    @Test
    void aCheckpointWithoutClaimsShowsOnlyWhetherItNamesTheBoot(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("f"), GoFiles.secondVersion("\"nodeBootID\":\"boot-1\""));

        assertThat(GoForm.ofTakenOver(file)).isEqualTo(new GoForm(true, true, false, false));
        assertThatThrownBy(() -> GoForm.of("0.3"))
                .hasMessage("--checkpoint-release=0.3 is not one of 0.4.0, 0.4.1, 0.5, 0.5.0-dev, 25.12");
        Files.writeString(file, "{");
        assertThatThrownBy(() -> GoForm.ofTakenOver(file)).hasMessageContaining("set --checkpoint-release");
    }

    @Test
    void aClaimOfTheFirstVersionIsPrepared() {
        byte[] file = GoFiles.firstVersion("""
                        {"preparedClaims":{"%s":{"status":{"allocation":{"devices":{"results":[{"request":"gpu","driver":"gpu.nvidia.com","pool":"node-1","device":"gpu-0"}]}}},"preparedDevices":[{"devices":[{"gpu":{"info":{"uuid":"GPU-0"},"device":{"Requests":["gpu"],"PoolName":"node-1","DeviceName":"gpu-0","CDIDeviceIDs":["k8s.gpu.nvidia.com/claim=%s-gpu-0"],"ShareID":null}},"mig":null}],"configState":{"mpsControlDaemonID":""}}]}}}""".formatted(A, A));

        assertThat(GoCheckpoint.decode(file)).isEqualTo(new GoCheckpoint("", List.of(gpu(A))));
    }

    @Test
    void whatIsUnfinishedOrSharedIsMarked() {
        GoCheckpoint read = GoCheckpoint.decode(GoFiles.secondVersion("""
                                "preparedClaims":{"%s":{"checkpointState":"PrepareStarted","status":{"allocation":{"devices":{"results":[{"device":"gpu-0-mig-1g10gb-19-3"}]}}},"name":"a","namespace":"default"},"%s":{"checkpointState":"PrepareCompleted","status":{},"preparedDevices":[{"devices":[{"gpu":null,"mig":null,"vfio":{"info":{"uuid":"GPU-1"},"device":{"DeviceName":"gpu-vfio-1","ShareID":"s"}}}],"configState":{"mpsControlDaemonID":"m-1","mpsApplied":true}}]}}""".formatted(A, B)));

        assertThat(read.claims().get(0).isPrepared()).isFalse();
        assertThat(read.claims().get(0).mayHaveChangedHardware()).isTrue();
        assertThat(read.claims().get(1).mpsDaemons()).containsExactly("m-1");
        assertThat(read.claims().get(1).devices().get(0).kind()).isEqualTo(Kind.VFIO);
        assertThat(read.claims().get(1).devices().get(0).isShare()).isTrue();
    }

    /** Releases of 2025 have the UUID in another place. */
    @Test
    void aMigDeviceOfAnOldReleaseHasItsUuid() {
        GoCheckpoint read = GoCheckpoint.decode(GoFiles.firstVersion("""
                                {"preparedClaims":{"%s":{"preparedDevices":[{"devices":[{"gpu":null,"mig":{"info":{"uuid":"MIG-1"},"device":{"DeviceName":"m"}}}]}]}}}""".formatted(A)));

        assertThat(read.claims().get(0).devices())
                .containsExactly(new GoDevice(Kind.MIG, "m", "MIG-1", false, List.of()));
    }

    @Test
    void aClaimThatIsNoUidAndWhatFollowsTheEndAreRefused() {
        byte[] file = GoFiles.firstVersion("{\"preparedClaims\":{\"../etc\":{}}}");

        assertThatThrownBy(() -> GoCheckpoint.decode(file))
                .isInstanceOf(DraException.class)
                .hasMessage("it has a claim whose name is not a UID: ../etc");

        byte[] whole = written();
        byte[] longer = Arrays.copyOf(whole, whole.length + 1);
        longer[whole.length] = '1';

        assertThatThrownBy(() -> GoCheckpoint.decode(longer)).isInstanceOf(DraException.class);
    }

    @Test
    void aSumIsAWholeNumber() {
        String file = new String(GoFiles.firstVersion("{}"), StandardCharsets.UTF_8);

        assertThat(GoCheckpoint.decode(bytes(file)).claims()).isEmpty();
        assertThatThrownBy(() -> GoCheckpoint.decode(bytes(file.replaceFirst(",", ".5,"))))
                .hasMessageContaining("its checksum is not that of its content");
    }

    @Test
    void noClaimsAreNoMember() {
        assertThat(new GoCheckpointWriter("gpu.nvidia.com", "boot-1", GoForm.of("0.5")).toBytes())
                .asString(StandardCharsets.UTF_8)
                .contains("\"v1\":{}")
                .doesNotContain("preparedClaims");
    }

    @Test
    void adminAccessAndSubrequestsAreWritten() {
        GoCheckpointWriter writer = new GoCheckpointWriter("gpu.nvidia.com", "boot-1", GoForm.of("0.5"));
        HeldDevice device = HeldDevice.builder("gpu", new PoolName("node-1"), new DeviceName("gpu-0"))
                .subrequest("large")
                .adminAccess(true)
                .build();
        writer.add(A, List.of(new Group(List.of(new Entry(device, "GPU-0", null)), false)));

        assertThat(writer.toBytes())
                .asString(StandardCharsets.UTF_8)
                .contains(
                        "{\"request\":\"gpu/large\",\"driver\":\"gpu.nvidia.com\",\"pool\":\"node-1\",\"device\":\"gpu-0\",\"adminAccess\":true}",
                        "\"Requests\":[\"gpu/large\"]");
    }

    /** It reads the members that it knows, by the sum of these. */
    @Test
    void aReleaseOfTheFirstVersionAcceptsItsPart() throws Exception {
        ObjectNode file = (ObjectNode) new ObjectMapper().readTree(written());
        file.remove("v2");

        GoCheckpoint read = GoCheckpoint.decode(bytes(file.toString()));

        assertThat(read.claims()).isEqualTo(GoCheckpoint.decode(written()).claims());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[]",
                "null",
                "{\"v3\":{}}",
                "{\"version\":\"v3\",\"checksum\":0,\"v1\":{}}",
                "{\"checksum\":1083090442,\"v1\":{},\"v3\":{}}",
                "{\"v2\":{\"checksum\":\"1\"}}",
                "{\"v2\":{\"checksum\":0,\"preparedClaims\":{}}}"
            })
    void whatIsNoCheckpointIsRefused(String text) {
        assertThatThrownBy(() -> GoCheckpoint.decode(bytes(text))).isInstanceOf(DraException.class);
    }

    /** A flip outside of version 2 concerns what is not read. */
    @Test
    void flippedBytesNeverChangeTheClaims() {
        byte[] file = written();
        GoCheckpoint intact = GoCheckpoint.decode(file);
        Random random = new Random(20);
        int refused = 0;
        for (int i = 0; i < 3000; i++) {
            byte[] flipped = file.clone();
            flipped[random.nextInt(file.length)] ^= (byte) (1 << random.nextInt(8));
            try {
                assertThat(GoCheckpoint.decode(flipped)).isEqualTo(intact);
            } catch (DraException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(1500);
    }

    @Test
    void aFileThatEndsEarlyIsRefused() {
        byte[] file = written();
        for (int length = 0; length < file.length; length++) {
            byte[] cut = Arrays.copyOf(file, length);
            assertThatThrownBy(() -> GoCheckpoint.decode(cut)).isInstanceOf(DraException.class);
        }
    }

    @Test
    void noFileIsNoCheckpoint(@TempDir Path folder) {
        assertThat(GoCheckpoint.read(folder.resolve("checkpoint.json"))).isEmpty();
    }
}
