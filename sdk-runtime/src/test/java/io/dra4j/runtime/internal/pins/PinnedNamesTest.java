// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.pins.DevicePins.Pins;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PinnedNamesTest {

    private static final List<LeftOut> LEFT_OUT = List.of(new LeftOut("GPU-5b3f", "broken"));

    @TempDir
    Path data;

    private final Map<ClaimRef, ClaimObject> claims = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private @Nullable ClusterException failure;
    private int lists;
    private Instant now = Instant.EPOCH;
    private PinnedNames names;

    private Map<ClaimRef, ClaimObject> list() {
        lists++;
        if (failure != null) {
            throw failure;
        }
        return claims;
    }

    @BeforeEach
    void restart() {
        names = restarted(DevicePins.in(data));
    }

    private PinnedNames restarted(DevicePins pins) {
        return new PinnedNames(
                "gpu.example.com", pins, ClaimDecoding.listing(this::list), event -> events.add(event.message()));
    }

    /** The names that are published of devices, each given as {@code name=id}. */
    private List<String> published(String... devices) {
        now = now.plusSeconds(1);
        List<Device> all = new ArrayList<>();
        for (String device : devices) {
            String[] parts = device.split("=");
            all.add(Device.builder(parts[0])
                    .physicalId(parts.length > 1 ? parts[1] : null)
                    .build());
        }
        Inventory given = Inventory.of(Pool.ofNode("node", all)).withLeftOut(LEFT_OUT);
        Inventory inventory = names.publishable(given, now);
        assertThat(inventory.leftOut()).isEqualTo(LEFT_OUT);
        List<Device> out = inventory.pools().get(0).devices();
        assertThat(out).allMatch(device -> device.physicalId() == null);
        List<String> published =
                out.stream().map(device -> device.name().value()).toList();
        names.written(name -> published.contains(name.device().value()), now);
        return published;
    }

    private void waitForBinding() {
        now = now.plus(PinnedNames.LONGEST_BINDING);
    }

    private void allocate(String device) {
        claims.put(
                new ClaimRef("ns", device, device),
                new ClaimObject(
                        device,
                        new ClaimObject.Allocation(
                                List.of(new ClaimObject.Result(
                                        "gpu.example.com", "r", "node", device, null, Map.of(), false, Set.of())),
                                List.of()),
                        Map.of(),
                        "{}"));
    }

    private Path file() {
        return data.resolve("devices.pins");
    }

    @Test
    void devicesWithoutPhysicalIdsMakeNoFile() {
        assertThat(published("a", "b", "c= ", "d= ")).containsExactly("a", "b", "c", "d");
        assertThat(file()).doesNotExist();
        assertThat(names.due()).isEmpty();
    }

    @Test
    void theFileHasEachNameBeforeItIsPublishedAndWithoutItTheNodeIsNew() throws IOException {
        published("a=X", "b", "c=Z");

        assertThat(Files.readString(file())).startsWith("""
                        {"format":"dra4j-pins","version":1}
                        {"pool":"node","device":"a","physicalId":"X"}
                        {"pool":"node","device":"c","physicalId":"Z"}
                        {"crc32c":\"""");
        assertThat(data).isDirectoryNotContaining("glob:**.new");

        Files.delete(file());
        restart();

        assertThat(published("a=Y")).containsExactly("a");
    }

    @Test
    void aNameThatCantBePinnedIsNotPublishedUntilItCan() throws IOException {
        Path obstacle = Files.createDirectories(data.resolve("devices.pins.new/x"));

        assertThat(published("a=X", "b")).containsExactly("b");
        assertThat(events).singleElement().asString().contains("Can't write " + file());
        assertThat(names.due()).contains(now.plusSeconds(60));
        Files.delete(obstacle);
        assertThat(published("a=X", "b")).containsExactly("a", "b");
    }

    /** A power failure may take the file, which is in place, away again. */
    @Test
    void aNameWhosePinIsNotDurableIsNotPublishedUntilItIs() {
        List<IOException> failures = new ArrayList<>(List.of(new IOException("no sync"), new IOException("no sync")));
        DevicePins pins = new DevicePins(file(), directory -> {
            if (!failures.isEmpty()) {
                throw failures.remove(0);
            }
        });
        published("a=X");
        names = restarted(pins);

        assertThat(published("a=X"))
                .as("another process may not have synced them")
                .isEmpty();
        assertThat(published("a=X", "b=Y")).containsExactly("a");
        assertThat(published("a=X", "b=Y")).containsExactly("a", "b");
    }

    @Test
    void swappedNamesAreFreedTogether() {
        published("a=X", "b=Y");
        allocate("b");
        restart();

        assertThat(published("a=Y", "b=X")).isEmpty();
        waitForBinding();
        assertThat(published("a=Y", "b=X")).isEmpty();
        claims.clear();
        waitForBinding();
        assertThat(published("a=Y", "b=X")).containsExactly("a", "b");
    }

    @Test
    void hardwareThatAGoneNameMeansIsNotPublishedUnderANewName() {
        published("a=X", "b=Y");
        allocate("a");
        restart();

        assertThat(published("b=Y", "c=X", "d=Z")).containsExactly("b", "d");
        waitForBinding();
        assertThat(published("b=Y", "c=X", "d=Z")).containsExactly("b", "d");
        claims.clear();
        waitForBinding();
        assertThat(published("b=Y", "c=X", "d=Z")).containsExactly("b", "c", "d");
        assertThat(published("a=X", "b=Y")).as("a is forgotten").containsExactly("b");
    }

    @Test
    void ofNewNamesForOneHardwareTheFirstIsPublishedAndAllThatWere() {
        assertThat(published("c=X", "b=X")).containsExactly("b");
        assertThat(events).singleElement().asString().contains("node/c (new, is X, as is node/b)", "own physicalId");
        published("b=X", "c=Y");
        Map<PooledDevice, String> pins =
                new HashMap<>(DevicePins.in(data).read().ids());
        pins.replaceAll((name, id) -> "X");
        DevicePins.in(data).write(Pins.of(pins));
        restart();

        assertThat(published("a=X", "c=X", "b=X")).containsExactly("c", "b");
        assertThat(published("a=X")).isEmpty();
        waitForBinding();
        assertThat(published("a=X")).containsExactly("a");
    }

    @Test
    void aDeviceThatComesBackIsPublishedAtOnce() {
        published("a=X", "b=Y");
        published("b=Y");

        assertThat(published("a=X", "b=Y")).containsExactly("a", "b");
        assertThat(names.due()).isEmpty();
    }

    @Test
    void claimsThatCantBeListedFreeNothing() {
        published("a=X");
        published("a=Y");
        failure = new ClusterException("no", 503, null);
        waitForBinding();

        assertThat(published("a=Y")).isEmpty();
        assertThat(published("a=Y")).isEmpty();
        assertThat(lists).isEqualTo(1);
        failure = null;
        now = now.plusSeconds(60);
        assertThat(published("a=Y")).containsExactly("a");
    }

    @Test
    void ofADamagedFileNoNameIsKnown() throws IOException {
        published("a=X", "b");
        byte[] bytes = Files.readAllBytes(file());
        bytes[bytes.length / 2] ^= 1;
        Files.write(file(), bytes);
        restart();

        assertThat(id("a")).contains(Pins.UNKNOWN);
        assertThat(published("a=X", "b")).containsExactly("b");
        assertThat(data.resolve("devices.pins.damaged")).hasBinaryContent(bytes);
        assertThat(id("a")).contains(Pins.UNKNOWN);
        waitForBinding();
        assertThat(published("a=X", "b")).containsExactly("a", "b");
        assertThat(id("a")).contains("X");
    }

    private java.util.Optional<String> id(String device) {
        return DevicePins.in(data).read().id(new PoolName("node"), new DeviceName(device));
    }

    @Test
    void aFileOfANewerReleaseIsRefused() throws IOException {
        String body = "{\"format\":\"dra4j-pins\",\"version\":2}\n";
        CRC32C sum = new CRC32C();
        sum.update(body.getBytes(StandardCharsets.UTF_8));
        Files.writeString(file(), body + "{\"crc32c\":\"%08x\"}%n".formatted(sum.getValue()));

        assertThatThrownBy(() -> published("a=X"))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("format version 2");
    }
}
