// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a container runtime finds in the CDI directory. */
@DisplayNameGeneration(RequirementNames.class)
class CdiIT {

    private static final String CONFIG =
            """
            {"apiVersion":"gpu.resource.example.com/v1alpha1","kind":"GpuConfig",
             "sharing":{"strategy":"TimeSlicing","timeSlicingConfig":{"interval":"Long"}}}
            """;
    private static final Set<PosixFilePermission> WRITES =
            PosixFilePermissions.fromString("----w--w-");
    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        node = new NodeUnderTest("--num-devices=32");
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static List<String> ids(ClaimAnswer answer) {
        return answer.devices().stream().flatMap(d -> d.cdiDeviceIds().stream()).toList();
    }

    @Test
    @Tag("DRA-CDI-01")
    void everyIdIsAVendorAClassAndAName() {
        assertThat(ids(node.prepare(node.allocate("gpu-0", "gpu-1"))))
                .hasSize(2)
                .allMatch(
                        id ->
                                id.matches(
                                        "[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
                                                + "/[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
                                                + "=[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?"));
    }

    @Test
    @Tag("DRA-CDI-02")
    void everyIdResolvesWhenTheAnswerIsThere() throws Exception {
        for (int i = 0; i < 32; i++) {
            ClaimAnswer answer = node.prepare(node.allocate("gpu-" + i));
            assertThat(ids(answer)).isNotEmpty();
            assertThat(node.environment(answer)).contains("GPU_DEVICE_%d=gpu-%d".formatted(i, i));
        }
    }

    @Test
    @Tag("DRA-CDI-03")
    @Tag("DRA-CDI-04")
    void theSpecsKeepCdisRulesAndAskForTheVersionThatTheyNeed() throws Exception {
        node.prepare(node.allocate("gpu-0", "gpu-1"));
        node.prepare(node.create(node.claim().request("r", "gpu-2").claimConfig(CONFIG)));

        List<JsonNode> specs = new ArrayList<>();
        for (String text : node.cdi.content().values()) {
            specs.add(TestClaim.JSON.readTree(text));
        }

        assertThat(specs).hasSize(2).allSatisfy(CdiDirectory::assertValid);
    }

    @Test
    @Tag("DRA-CDI-05")
    void specsAppearWhole() throws Exception {
        node.prepare(node.allocate("gpu-0")); // so that the directory is there
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> reader =
                NodeUnderTest.async(
                        () -> {
                            int read = 0;
                            while (!done.get()) {
                                read += readAll();
                            }
                            return read;
                        });
        try (WatchService watch = node.driver.cdi.getFileSystem().newWatchService()) {
            node.driver.cdi.register(watch, StandardWatchEventKinds.ENTRY_MODIFY);
            for (int i = 1; i < 32; i++) {
                node.prepare(node.allocate("gpu-" + i));
            }
            List<String> modified = new ArrayList<>();
            for (WatchKey key = watch.poll(); key != null; key = watch.poll()) {
                for (WatchEvent<?> event : key.pollEvents()) {
                    modified.add(event.context().toString());
                }
                key.reset();
            }
            assertThat(modified).noneMatch(name -> name.endsWith(".json"));
        }
        done.set(true);
        System.out.println("DRA-CDI-05: specs read while others were written: " + reader.get());
        assertThat(reader.get()).isPositive();
    }

    /** Reads all specs that are there, each of which must be complete. */
    private static int readAll() {
        try {
            int read = 0;
            for (Map.Entry<String, String> file : node.cdi.content().entrySet()) {
                if (file.getKey().endsWith(".json")) {
                    CdiDirectory.assertValid(TestClaim.JSON.readTree(file.getValue()));
                    read++;
                }
            }
            return read;
        } catch (NoSuchFileException e) {
            return 0; // a temporary file that had its name already changed
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Tag("DRA-CDI-06")
    void aClaimsSpecIsGoneWhenItsUnprepareIsAnswered() throws Exception {
        node.prepare(node.allocate("gpu-9"));
        Map<String, String> before = node.cdi.content();
        KubeletClaim claim = node.allocate("gpu-0", "gpu-1");
        node.prepare(claim);
        assertThat(node.cdi.content()).hasSize(before.size() + 1);

        node.unprepare(claim);

        assertThat(node.cdi.content()).isEqualTo(before);
    }

    @Test
    @Tag("DRA-CDI-07")
    @Tag("DRA-CDI-09")
    void aContainerSeesNothingOfAnotherClaim() throws Exception {
        KubeletClaim first = node.allocate("gpu-0");
        KubeletClaim second = node.allocate("gpu-1");
        ClaimAnswer one = node.prepare(first);
        ClaimAnswer two = node.prepare(second);

        assertThat(node.environment(one))
                .isNotEmpty()
                .noneMatch(e -> e.contains(second.uid()) || e.contains("gpu-1"));
        assertThat(node.environment(two))
                .isNotEmpty()
                .noneMatch(e -> e.contains(first.uid()) || e.contains("gpu-0"));
        assertThat(ids(one)).doesNotContainAnyElementsOf(ids(two));
        for (String text : node.cdi.content().values()) {
            assertThat(text).as("the fake driver has no nodes").doesNotContain("deviceNodes");
        }
    }

    @Test
    @Tag("DRA-CDI-08")
    void aNameIsNeverUsedAgainWithOtherContent() throws Exception {
        KubeletClaim plain = node.allocate("gpu-0");
        List<String> before = ids(node.prepare(plain));
        node.unprepare(plain);

        KubeletClaim sliced = node.create(node.claim().request("gpu", "gpu-0").claimConfig(CONFIG));

        assertThat(ids(node.prepare(sliced))).doesNotContainAnyElementsOf(before);
    }

    @Test
    @Tag("DRA-CDI-10")
    void aRepeatedPrepareWritesASpecAgainThatIsGoneOrSpoilt() throws Exception {
        KubeletClaim gone = node.allocate("gpu-0");
        KubeletClaim spoilt = node.allocate("gpu-1");
        ClaimAnswer first = node.prepare(gone);
        ClaimAnswer second = node.prepare(spoilt);
        Map<String, String> specs = node.cdi.content();
        Files.delete(node.specOf(gone));
        Files.writeString(node.specOf(spoilt), "{");

        assertThat(node.prepare(gone).wire()).isEqualTo(first.wire());
        assertThat(node.prepare(spoilt).wire()).isEqualTo(second.wire());

        assertThat(node.cdi.content()).isEqualTo(specs);
    }

    @Test
    @Tag("DRA-CDI-11")
    void filesOfOthersStayAsTheyAreThroughStartsAndStops() throws Exception {
        Files.createDirectories(node.driver.cdi);
        Map<String, String> foreign = new TreeMap<>();
        foreign.put("vendor.json", "{\"cdiVersion\":\"0.3.0\",\"kind\":\"v.example.com/gpu\"}");
        foreign.put("k8s.other.example.com-claim_uid.json", "{}");
        foreign.put("k8s.gpu.example.com-claim_uid.json.bak", "not ours: another ending");
        foreign.put("k8s.gpu.example.com-common_uid.json", "{}");
        foreign.put("static.yaml", "cdiVersion: 0.3.0");
        for (Map.Entry<String, String> file : foreign.entrySet()) {
            Files.writeString(node.driver.cdi.resolve(file.getKey()), file.getValue());
        }
        KubeletClaim claim = node.allocate("gpu-0");
        node.prepare(claim);
        node.driver.restartAfterKill("--num-devices=32");
        assertThat(node.driver.terminate()).isZero();
        assertThat(node.driver.startRegistered("--num-devices=32")).isTrue();

        ClaimAnswer answer = node.prepare(claim);
        assertThat(ids(answer)).allSatisfy(id -> assertThat(node.cdi.specOf(id)).isNotNull());
        node.unprepare(claim);

        assertThat(node.cdi.content()).isEqualTo(foreign);
        for (String name : foreign.keySet()) {
            Files.delete(node.driver.cdi.resolve(name));
        }
    }

    @Test
    @Tag("DRA-CDI-12")
    void noTemporaryFileStaysAndNobodyElseMayWrite() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        for (int i = 0; i < 20; i++) {
            node.prepare(claim);
            Path spec = node.specOf(claim);
            assertThat(node.driver.specs()).containsExactly(spec.getFileName().toString());
            assertThat(Files.getPosixFilePermissions(spec)).doesNotContainAnyElementsOf(WRITES);
            node.unprepare(claim);
            assertThat(node.driver.specs()).isEmpty();
        }
        assertThat(Files.getPosixFilePermissions(node.driver.cdi))
                .doesNotContainAnyElementsOf(WRITES);
    }
}
