// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.InventoryWatch;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import io.dra4j.testkit.Scenarios;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The devices that options ask for, as they are published, and what claims of them get. */
class FakeDevicesTest {

    private static final String SHARE = "11111111-2222-4333-8444-555555555555";

    @TempDir
    private Path folder;

    private String driver;
    private DeviceProvider offering;
    private DeviceProvider preparing;
    private String config = "";
    private Map<String, PreparedDevice> prepared;
    private Map<String, String> everyContainer;

    @Scenarios("device-scenarios.txt")
    void areOfferedAndPrepared(String scenario) throws Exception {
        for (String line : scenario.split("\n")) {
            String[] parts = line.split(" : ", 2);
            run(parts[0].split(" "), parts.length == 1 ? "" : parts[1].replace("{faults}", faults().toString()));
        }
    }

    private void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "#" -> {} // its title
            case "options" -> {
                offering = provider(text);
                preparing = offering;
            }
            case "since-with" -> preparing = provider(text);
            case "faults" -> Files.writeString(faults(), text.replace("\\n", "\n"));
            case "unreadable" -> Files.createDirectory(faults());
            case "sharing" ->
                config =
                        "{apiVersion: gpu.resource.example.com/v1alpha1, kind: GpuConfig, sharing: %s}".formatted(text);
            case "mtu" ->
                config =
                        "{apiVersion: net.resource.example.com/v1alpha1, kind: NetConfig, mtu: %s}".formatted(words[1]);
            case "prepare" -> prepare(words);
            case "refused" ->
                assertThatThrownBy(() -> prepare(words))
                        .isInstanceOf(PrepareException.class)
                        .hasMessageContaining(text);
            case "fails" ->
                assertThatThrownBy(() -> offering.inventory())
                        .isInstanceOf(DraException.class)
                        .hasMessageContainingAll(text.split(" \\| "));
            case "read-again" ->
                assertThat(offering.inventory().pools().get(0).devices().get(0))
                        .isSameAs(offering.inventory().pools().get(0).devices().get(0));
            case "is" -> assertThat(state(words)).isEqualTo(text);
            case "has" -> assertThat(state(words)).contains(text);
            case "lacks" -> assertThat(state(words)).doesNotContain(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    private Path faults() {
        return folder.resolve("faults");
    }

    private DeviceProvider provider(String text) {
        List<String> args = new ArrayList<>(List.of(text.split(" ")));
        driver = FakeDriverOptions.profile(args.toArray(String[]::new)).driverName();
        args.addAll(List.of("--driver-name=" + driver, "--node-name=node-a"));
        FakeDriverOptions options = new FakeDriverOptions();
        new CommandLine(options).parseArgs(args.toArray(String[]::new));
        return FakeDriverMain.provider(options);
    }

    /** Prepares a claim of devices, with admin access to {@code gpu-0!}, and of shares, {@code gpu-0=memory=1Gi}. */
    private void prepare(String[] words) throws Exception {
        AllocatedClaims claim = AllocatedClaims.of(driver, offering);
        if (!config.isEmpty()) {
            claim.config(config);
        }
        Stream.of(words).skip(1).forEach(device -> allocate(claim, device));
        var done = preparing.prepare(claim.build(), new RecordingClaimContext());
        everyContainer = done.edits().env();
        prepared = new LinkedHashMap<>();
        done.devices().forEach(one -> prepared.put(one.allocated().device().value(), one));
    }

    private static void allocate(AllocatedClaims claim, String device) {
        String[] parts = device.split("=", 2);
        if (device.endsWith("!")) {
            claim.adminAccess(device.replace("!", ""));
        } else if (parts.length == 1) {
            claim.device(device);
        } else {
            Map<String, Quantity> amounts = Stream.of(parts[1].split(","))
                    .map(amount -> amount.split("="))
                    .filter(amount -> amount.length == 2)
                    .collect(Collectors.toMap(amount -> amount[0], amount -> new Quantity(amount[1])));
            claim.share(parts[0], SHARE, amounts);
        }
    }

    /** Returns what a line speaks of; parts of slices without quotes. */
    private String state(String[] words) throws Exception {
        String of = words[words.length - 1];
        return switch (words[1]) {
            case "pools" ->
                published("/spec/pool")
                        .map(pool -> pool.path("name").asText())
                        .distinct()
                        .toList()
                        .toString();
            case "devices" ->
                published("/spec/devices")
                        .flatMap(JsonNode::valueStream)
                        .map(device -> device.path("name").asText())
                        .toList()
                        .toString();
            case "counters" ->
                published("/spec/sharedCounters")
                        .map(JsonNode::toString)
                        .collect(Collectors.joining())
                        .replace("\"", "");
            case "common-env" -> everyContainer.toString();
            case "env" -> prepared.get(of).edits().env().toString();
            case "status" -> String.valueOf(prepared.get(of).status());
            case "metadata" -> {
                DeviceMetadata metadata = prepared.get(of).metadata();
                yield metadata == null ? "null" : new TreeMap<>(metadata.attributes()).toString();
            }
            default ->
                published("/spec/devices")
                        .flatMap(JsonNode::valueStream)
                        .filter(device -> device.path("name").asText().equals(of))
                        .findFirst()
                        .map(device ->
                                device.has(words[1]) ? device.path(words[1]).toString() : "none")
                        .orElseThrow()
                        .replace("\"", "");
        };
    }

    private Stream<JsonNode> published(String part) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        List<JsonNode> parts = new ArrayList<>();
        for (String slice : SlicePreview.rawJson(driver, "node-a", offering.inventory())) {
            parts.add(mapper.readTree(slice).at(part));
        }
        return parts.stream();
    }

    @Test
    void aMountedConfigMapThatChangesIsNoticed() throws Exception {
        CountDownLatch noticed = new CountDownLatch(1);
        Path before = Files.createDirectory(folder.resolve("..before"));
        Files.createSymbolicLink(folder.resolve("..data"), before.getFileName());
        Files.createSymbolicLink(faults(), Path.of("..data/faults"));
        try (InventoryWatch watch = InventoryWatch.ofFile(faults(), noticed::countDown)) {
            assertThat(watch).isNotNull();
            Path after = Files.createDirectory(folder.resolve("..after"));
            Files.writeString(after.resolve("faults"), "gpu-0 absent");
            Path link = Files.createSymbolicLink(folder.resolve("..data_tmp"), after.getFileName());
            Files.move(link, folder.resolve("..data"), StandardCopyOption.ATOMIC_MOVE);

            assertThat(noticed.await(10, TimeUnit.SECONDS)).isTrue();
        }
        areOfferedAndPrepared("options : --num-devices=3 --fault-file={faults}\nis devices : [gpu-1, gpu-2]");
    }

    @Test
    void decoratorsPassAllMethodsOn() {
        assertThat(DeviceProvider.class.getMethods())
                .allMatch(method -> Stream.of(DecoratedDevices.class.getDeclaredMethods())
                        .anyMatch(own -> own.getName().equals(method.getName())));
    }

    @Test
    void theMappingOfCoresMayBeLeftOut() throws Exception {
        assertThat(provider("--device-profile=cpu").inventory().pools().get(0).devices())
                .allMatch(numaNode ->
                        numaNode.nodeAllocatableResources().get("cpu").mayBeLeftOut());
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void partitionsOfAnySizeArePublished(String shared) throws Exception {
        for (int parts = 1; parts <= PartitionedGpus.MOST_PARTITIONS; parts++) {
            DeviceProvider gpus = provider(
                    "--num-devices=1 --gpu-partitions=%d --gpu-allow-multiple-allocations=%s".formatted(parts, shared));
            assertThat(SlicePreview.problems(driver, gpus.inventory()))
                    .as(parts + " partitions")
                    .isEmpty();
        }
    }

    @Test
    void theGpuAndTheNicOfOneNumberAreBelowOneRoot() {
        assertThat(IntStream.range(0, 70).mapToObj(i -> PciSlot.ofGpu(i).root()))
                .doesNotHaveDuplicates()
                .allMatch(root -> root.matches("pci[0-9a-f]{4}:[0-9a-f]{2}"))
                .containsExactlyElementsOf(IntStream.range(0, 70)
                        .mapToObj(i -> PciSlot.ofNic(i).root())
                        .toList());
        assertThat(IntStream.range(0, 70).boxed().flatMap(i -> Stream.of(PciSlot.ofGpu(i), PciSlot.ofNic(i))))
                .extracting(PciSlot::busId)
                .doesNotHaveDuplicates()
                .allMatch(busId -> busId.matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]"));
    }
}
