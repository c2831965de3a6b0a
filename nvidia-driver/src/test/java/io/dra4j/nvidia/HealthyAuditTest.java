// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.inventory.Shares;
import io.dra4j.nvidia.nvml.GpuInstance;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.takeover.GoFiles;
import io.dra4j.nvidia.vfio.Passthrough;
import io.dra4j.runtime.ClaimPreview;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Healthy nodes, with all that claims leave on them: an audit finds nothing. */
class HealthyAuditTest extends SharingOnBoards {

    private static final long SEED = Long.getLong("dra4j.seed", 20);
    private static final int NODES = 20;
    private static final int STATES = 50; // of each
    private static final int WITH_MPS = 2; // nodes: a daemon takes long to start
    private static final List<String> BOARDS =
            List.of("a100-40", "a30", "h200-141", "l40s", "a100-40-divided", "a30-divided", "t4");
    private static final List<String> MIG_BOARDS = BOARDS.subList(0, 3);

    private final Random seeds = new Random(SEED);
    private final Map<String, Integer> seen = new TreeMap<>();
    private Random random = new Random();
    private boolean isDynamic;
    private boolean isPassthrough;
    private List<String> devices = List.of();
    private int last; // number of a claim
    private PciStandIn kernel;

    @Override
    Passthrough.Settings passthrough() {
        Duration soon = Duration.ofSeconds(10);
        return new Passthrough.Settings(
                isPassthrough, node.sysfs(), node.proc(), soon, soon, soon, InstantSource.system());
    }

    @AfterEach
    void end() throws Exception {
        stop();
        if (kernel != null) {
            kernel.close();
            kernel = null;
        }
        killDaemons();
    }

    @Test
    @Tag("nightly")
    void nothingIsFoundInAThousandStates() throws Exception {
        Path root = folder;
        boolean canMount = MpsStandIn.canMount();
        for (int i = 0; i < NODES; i++) {
            random = new Random(seeds.nextLong());
            folder = Files.createDirectory(root.resolve("" + i));
            begin(i, canMount && i < WITH_MPS);
            for (int state = 0; state < STATES; state++) {
                change();
                Report report = audit(isDynamic);
                assertThat(report.exitStatus())
                        .as("state %s of node %s of seed %s: %s", state, i, SEED, report.text())
                        .isEqualTo(Report.HEALTHY);
                see("claims", claims.held.size());
            }
            end();
        }
        assertThat(seen.get("claims")).isGreaterThan(NODES * STATES);
        assertThat(seen)
                .containsKeys("whole", "mig", "vfio", "share", "time slices")
                .containsKeys("crash", "refusal", "reboot", "all with machines");
        assertThat(seen.containsKey("MPS")).isEqualTo(canMount);
    }

    private void see(String kind, int times) {
        seen.merge(kind, times, Integer::sum);
    }

    /** Each kind of node occurs, with any seed. */
    private void begin(int number, boolean withMps) throws Exception {
        claims.held.clear();
        gates = "";
        String board = BOARDS.get(number % BOARDS.size());
        boolean isDividable = MIG_BOARDS.contains(board);
        isDynamic = isDividable && number % 5 > 0;
        isPassthrough = !withMps && number % 3 == 0;
        shares = !withMps && number % 4 == 0 ? Shares.parse("unlimited") : Shares.NONE;
        install(withMps ? "l40s" : board, isDynamic);
        if (withMps) {
            mps = MpsStandIn.install(node);
        }
        if (isPassthrough) {
            kernel = PciStandIn.install(node);
            bindByHand(number % 2 == 0);
        } else if (isDividable && random.nextBoolean()) {
            hardware.setMig(0, true);
        }
        again();
        if (withMps) {
            claims.prepare(provider, claim(next(), config("GpuConfig", "", "strategy: MPS"), "gpu-0"));
            see("MPS", 1);
        }
    }

    /** An administrator has bound some GPUs, or all and unloaded the module. */
    private void bindByHand(boolean areAll) throws Exception {
        for (String gpu : kernel.gpus()) {
            if (areAll || random.nextInt(4) == 0) {
                kernel.bindByHand(gpu, PciStandIn.VFIO);
            }
        }
        if (areAll) {
            stop();
            hardware.loaded(false);
            see("all with machines", 1);
        }
    }

    private void again() throws Exception {
        stop();
        provider = startAgain(isDynamic, false);
        devices = provider.inventory().pools().stream()
                .flatMap(pool -> pool.devices().stream())
                .map(device -> device.name().value())
                .toList();
        preview = ClaimPreview.of("gpu.nvidia.com", provider);
    }

    private void change() throws Exception {
        switch (random.nextInt(16)) {
            case 0 -> again();
            case 1 -> reboot();
            case 2, 3 -> leaveCheckpoint();
            case 4, 5, 6, 7 -> unprepare();
            default -> prepare();
        }
    }

    private ClaimRef next() {
        UUID uid = new UUID(random.nextLong(), random.nextLong());
        return new ClaimRef("default", "claim-" + last++, uid.toString());
    }

    private static String kind(String device) {
        if (device.contains("-mig-")) {
            return "mig";
        }
        return device.startsWith("gpu-vfio-") ? "vfio" : "whole";
    }

    private static String gpu(String device) {
        return device.replaceFirst("^gpu-(?:vfio-)?([0-9]+).*", "$1");
    }

    /** A device that a scheduler may allocate; MIG devices may overlap, and are refused then. */
    private Optional<String> free() {
        List<String> names =
                new ArrayList<>(devices.stream().filter(this::isFree).toList());
        Collections.shuffle(names, random);
        List<String> kinds = new ArrayList<>(
                names.stream().map(HealthyAuditTest::kind).distinct().toList());
        Collections.shuffle(kinds, random);
        if (random.nextInt(4) > 0) {
            Collections.sort(kinds, Comparator.comparing("vfio"::equals)); // takes long
        }
        return kinds.stream()
                .flatMap(kind -> names.stream().filter(name -> kind(name).equals(kind)))
                .findFirst();
    }

    private boolean isFree(String device) {
        return claims.held.stream()
                .filter(claim -> !claim.beforeReboot())
                .flatMap(claim -> claim.devices().stream())
                .map(held -> held.device().value())
                .filter(held -> gpu(held).equals(gpu(device)))
                .allMatch(held -> held.equals(device)
                        ? isShared(device)
                        : kind(held).equals("mig") && kind(device).equals("mig"));
    }

    private boolean isShared(String device) {
        return shares.areAllowed() && !kind(device).equals("vfio");
    }

    private void prepare() throws Exception {
        Optional<String> free = free();
        if (free.isEmpty()) {
            return;
        }
        String device = free.get();
        boolean isSliced = kind(device).equals("whole") && random.nextInt(5) == 0;
        claims.crashAt(random.nextInt(6) == 0 ? 1 + random.nextInt(3) : 0);
        try {
            claims.prepare(provider, allocated(device, isSliced ? slices() : ""));
            see(kind(device), 1);
            see(isShared(device) ? "share" : "alone", 1);
            see(isSliced ? "time slices" : "no configuration", 1);
        } catch (DraException e) {
            see("refusal", 1);
        } catch (JournaledClaims.Crash e) {
            see("crash", 1);
            again();
        } finally {
            claims.crashAt(0);
        }
    }

    private String slices() {
        return config(
                "GpuConfig",
                "",
                "strategy: TimeSlicing, timeSlicingConfig: {interval: %s}"
                        .formatted(random.nextBoolean() ? "Short" : "Long"));
    }

    private AllocatedClaim allocated(String device, String config) {
        ClaimRef ref = next();
        String share = ", shareID: %s, consumedCapacity: {memory: 1Mi}".formatted(ref.uid());
        return claim(ref, config, device + (isShared(device) ? share : ""));
    }

    private void unprepare() throws Exception {
        Files.deleteIfExists(folder.resolve("checkpoint.json")); // it may list the claim
        if (!claims.held.isEmpty()) {
            claims.unprepare(provider, anyHeld());
        }
    }

    private ClaimRef anyHeld() {
        return claims.held.get(random.nextInt(claims.held.size())).ref();
    }

    /** The claims stay in the journal; MIG devices and time slices do not stay in the hardware. */
    private void reboot() throws Exception {
        if (mps != null || kernel != null) {
            return;
        }
        stop();
        try (Nvml administrator = node.nvml()) {
            for (int gpu = 0; isDynamic && gpu < hardware.gpus(); gpu++) {
                String uuid = hardware.uuid(gpu);
                for (GpuInstance instance : administrator.instances(uuid)) {
                    administrator.destroy(uuid, instance);
                }
            }
        }
        Path boot = node.proc().resolve("sys/kernel/random/boot_id");
        Files.writeString(boot, new UUID(random.nextLong(), random.nextLong()) + "\n");
        claims.held.replaceAll(claim -> claim.toBuilder().beforeReboot(true).build());
        again();
        see("reboot", 1);
    }

    /** A checkpoint of NVIDIA's driver in which no claim of this boot is left. */
    private void leaveCheckpoint() throws Exception {
        String other = next().uid();
        String held = claims.held.isEmpty() ? other : anyHeld().uid();
        byte[] left = switch (random.nextInt(3)) {
            case 0 -> GoFiles.prepared(other, gpu0, "boot-0");
            case 1 -> GoFiles.begun(other, "", BOOT);
            default -> GoFiles.prepared(held, gpu0, held.equals(other) ? "boot-0" : BOOT);
        };
        Files.write(folder.resolve("checkpoint.json"), left);
    }
}
