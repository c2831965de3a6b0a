// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.container.Mount;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClaimMetadataTest extends ReportsUnderTest {

    private JsonNode read(Path file) throws IOException {
        try (var objects = JSON.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile())) {
            return objects.next();
        }
    }

    private static List<String> versions(Path file) throws IOException {
        try (var objects = JSON.readerFor(JsonNode.class).<JsonNode>readValues(file.toFile())) {
            return objects.readAll().stream()
                    .map(object -> object.path("apiVersion").asText())
                    .toList();
        }
    }

    /** The file as a container sees it: another file of its name is not seen. */
    private Path mounted(Path file) throws IOException {
        return Files.createLink(directory.resolve("mounted"), file);
    }

    private Path prepareEmpty() {
        return Path.of(mount(prepare("{}", plain(gpu0).withMetadata(EMPTY)), 0).hostPath());
    }

    private static Mount mount(PreparedClaim claim, int device) {
        return claim.devices().get(device).edits().mounts().get(0);
    }

    @Test
    void isAFileForEachRequestThatContainersSee() throws IOException {
        AllocatedDevice nic = device("nic", "fast", "nic-0");
        DeviceMetadata attributes = new DeviceMetadata(
                Map.of(
                        "model", AttributeValue.of("A"),
                        "index", AttributeValue.of(3),
                        "driver", AttributeValue.version("1.0.0"),
                        "cores", new AttributeValue.OfInts(List.of(1L, 2L))),
                null);
        NetworkData network = new NetworkData("eth0", List.of("10.0.0.5/24"), null);
        PreparedClaim answer = prepare(
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
        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
        assertThat(Files.readString(file))
                .startsWith("{\n  \"apiVersion\" : \"metadata.resource.k8s.io/v1beta1\",\n  \"kind\"")
                .contains("\n}\n{\n", "\"metadata.resource.k8s.io/v1alpha1\"")
                .endsWith("}\n");
        assertThat(read(file).toString()).isEqualTo("""
                        {"apiVersion":"metadata.resource.k8s.io/v1beta1","kind":"DeviceMetadata",\
                        "metadata":{"name":"claim","namespace":"ns","uid":"uid-1","generation":1},\
                        "requests":[{"name":"r","devices":[\
                        {"driver":"gpu.example.com","pool":"node","name":"gpu-0","attributes":{\
                        "cores":{"ints":[1,2]},"driver":{"version":"1.0.0"},\
                        "index":{"int":3},"model":{"string":"A"}}},\
                        {"driver":"gpu.example.com","pool":"node","name":"gpu-1"}]}]}""");
        assertThat(read(Path.of(mount(answer, 2).hostPath())).path("requests").toString())
                .isEqualTo(
                        "[{\"name\":\"nic/fast\",\"devices\":[{\"driver\":\"gpu.example.com\",\"pool\":\"node\",\"name\":\"nic-0\","
                                + "\"networkData\":{\"interfaceName\":\"eth0\",\"ips\":[\"10.0.0.5/24\"]}}]}]");
    }

    @Test
    void ofAClaimFromATemplateIsFoundByThePodsNameForIt() throws IOException {
        String claim = "{\"metadata\":{\"annotations\":{\"resource.kubernetes.io/pod-claim-name\":\"%s\"}}}";
        Mount named = mount(prepare(claim.formatted("mine"), plain(gpu0).withMetadata(EMPTY)), 0);
        Mount odd = mount(prepare(claim.formatted("../x"), plain(gpu0).withMetadata(EMPTY)), 0);

        assertThat(named.containerPath()).contains("/resourceclaimtemplates/mine/r/");
        assertThat(odd.containerPath()).contains("/resourceclaims/claim/r/");
    }

    @Test
    void isWrittenOverInPlaceWhenItChanges() throws IOException {
        Path file = prepareEmpty();
        Path mounted = mounted(file);
        reports.updateMetadata(
                CLAIM, gpu0.held(), new DeviceMetadata(Map.of("a", AttributeValue.of("x".repeat(60))), null));
        assertThat(read(file).at("/metadata/generation").asInt()).isEqualTo(2);
        assertThat(read(file).at("/requests/0/devices/0/attributes/a/string").asText())
                .startsWith("xxx");
        long length = Files.size(file);

        reports.updateMetadata(CLAIM, gpu0.held(), EMPTY);
        reports.updateMetadata(CLAIM, gpu0.held(), EMPTY);
        reports.reestablish(CLAIM.uid());
        assertThat(read(file).at("/metadata/generation").asInt()).isEqualTo(3);
        assertThat(mounted).hasSameTextualContentAs(file);
        assertThat(versions(file)).hasSize(2);
        assertThat(file).as("it is padded, not cut").hasSize(length);
    }

    @Test
    void isThereAtOnceWhatACrashLeftBesideIt() throws IOException {
        Path own = directory.resolve("dra-device-metadata/uid-1/r");
        Files.createDirectories(own);
        Files.writeString(own.resolve(".metadata.json.tmp"), "{ ".repeat(10_000));

        Path file = prepareEmpty();

        assertThat(own).isDirectoryContaining(file::equals);
        assertThat(own.toFile().list()).hasSize(1);
        assertThat(versions(file)).hasSize(2);
    }

    @Test
    void thatACrashToreIsRepairedInPlaceAndThatIsLostIsWrittenAgain() throws IOException {
        Path file = prepareEmpty();
        String content = Files.readString(file);
        Path mounted = mounted(file);
        Files.writeString(file, content.substring(0, 50));

        reports.reestablish(CLAIM.uid());

        assertThat(mounted).hasContent(content);

        Files.delete(file);

        reports.reestablish(CLAIM.uid());

        assertThat(file).hasContent(content);
    }

    @Test
    void hasTheVersionsThatTheDriverChose() throws IOException {
        start("v1beta1");
        Path file = prepareEmpty();

        assertThat(versions(file)).containsExactly("metadata.resource.k8s.io/v1beta1");
    }

    @Test
    void ofWhatIsNoUidIsNotLookedForAndNoneLeavesItsDirectory() throws IOException {
        Path other = Files.writeString(directory.resolve("other"), "");
        Files.createDirectories(directory.resolve("dra-device-metadata/a b"));

        assertThat(reports.claimUids()).isEmpty();
        for (String odd : List.of("", ".", "..", "../other", "a/b", "/etc", "a\0b")) {
            assertThatThrownBy(() -> ReportFiles.inDirectory(directory, odd, ""))
                    .isInstanceOf(DraException.class);
        }

        assertThat(other).exists();
        assertThat(directory.resolve("dra-device-metadata/a b")).exists();

        assertThatThrownBy(() ->
                        prepare("{}", plain(device("../../r", null, "gpu-0")).withMetadata(EMPTY)))
                .isInstanceOf(DraException.class);
    }
}
