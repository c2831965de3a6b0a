// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.pins;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static io.dra4j.runtime.ScenarioSteps.list;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.ClaimDecoding;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.pins.DevicePins.Pins;
import io.dra4j.testkit.Scenarios;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The names of devices that come, go and move, as pinned-names.txt says. */
class PinnedNamesTest implements ScenarioSteps {

    private static final List<LeftOut> LEFT_OUT = List.of(new LeftOut("GPU-5b3f", "broken"));

    @TempDir
    Path data;

    private final Map<ClaimRef, ClaimObject> claims = new HashMap<>();
    private final List<String> events = new ArrayList<>();
    private @Nullable ClusterException failure;
    private int lists;
    private Instant now = Instant.EPOCH;
    private PinnedNames names;
    private byte[] damaged;

    private Map<ClaimRef, ClaimObject> listed() {
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
                "gpu.example.com", pins, ClaimDecoding.listing(this::listed), event -> events.add(event.message()));
    }

    /** The names that are published of devices, each given as {@code name=id}. */
    private List<String> published(String... devices) {
        now = now.plusSeconds(1);
        List<Device> all = new ArrayList<>();
        for (String device : devices) {
            String[] parts = device.split("=");
            all.add(Device.builder(parts[0])
                    .physicalId(parts.length > 1 ? parts[1].replace('_', ' ') : null)
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

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "publish" ->
                assertThat(list(published(Stream.of(words).skip(1).toArray(String[]::new)).stream()))
                        .isEqualTo(text);
            case "restart" -> restart();
            case "wait-for-binding" -> now = now.plus(PinnedNames.LONGEST_BINDING);
            case "advance" -> now = now.plus(Duration.parse("PT" + words[1]));
            case "allocate" -> {
                ClaimObject.Result result = new ClaimObject.Result(
                        "gpu.example.com", "r", "node", words[1], null, Map.of(), false, Set.of());
                ClaimObject.Allocation allocation = new ClaimObject.Allocation(List.of(result), List.of());
                claims.put(new ClaimRef("ns", "a", "uid"), new ClaimObject("uid", allocation, Map.of(), "{}"));
            }
            case "deallocate" -> claims.clear();
            case "lists-fail" -> failure = words[1].equals("yes") ? new ClusterException("no", 503, null) : null;
            case "lists" -> assertNumber(lists, words, text);
            case "nothing-due" -> assertThat(names.due()).isEmpty();
            case "due" -> assertThat(names.due()).contains(now.plus(Duration.parse("PT" + words[1])));
            case "no-file" -> assertThat(file()).doesNotExist();
            case "event" -> assertThat(events).singleElement().asString().contains(text.split(" \\| "));
            case "damage" -> {
                damaged = Files.readAllBytes(file());
                damaged[damaged.length / 2] ^= 1;
                Files.write(file(), damaged);
            }
            case "kept-aside" ->
                assertThat(data.resolve("devices.pins.damaged")).hasBinaryContent(damaged);
            case "obstruct" -> Files.createDirectories(data.resolve("devices.pins.new/x"));
            case "make-way" -> Files.delete(data.resolve("devices.pins.new/x"));
            case "id" ->
                assertThat(DevicePins.in(data).read().id(new PoolName("node"), new DeviceName(words[1])))
                        .contains(text.equals("unknown") ? Pins.UNKNOWN : text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("pinned-names.txt")
    void aNameIsPublishedForTheHardwareThatItWasFirstPublishedFor(String scenario) throws Exception {
        play(scenario);
    }

    private Path file() {
        return data.resolve("devices.pins");
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
    void ofNewNamesForOneHardwareTheFirstIsPublishedAndAllThatWere() throws Exception {
        play("publish c=X b=X : b\nevent : node/c (new, is X, as is node/b) | own physicalId\npublish b=X c=Y : b, c");
        Map<PooledDevice, String> pins =
                new HashMap<>(DevicePins.in(data).read().ids());
        pins.replaceAll((name, id) -> "X");
        DevicePins.in(data).write(Pins.of(pins));
        restart();

        play("publish a=X c=X b=X : c, b\npublish a=X : none\nwait-for-binding\npublish a=X : a");
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
