// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.inventory.NodeDevices;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.prepare.Edits;
import io.dra4j.nvidia.prepare.HookProgram;
import io.dra4j.nvidia.takeover.GoFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.slf4j.event.KeyValuePair;

/** Claims that NVIDIA's own driver has prepared, by its checkpoint, and their hardware. */
@Tag("slow")
@Isolated
class NvidiaTakeOverTest extends ProviderOnBoards {

    private static final String MIG = "gpu-0-mig-1g10gb-19-4";
    private static final String SLICES =
            config("GpuConfig", "", "strategy: TimeSlicing, timeSlicingConfig: {interval: Long}");
    private static final String GPU = """
            {"gpu":{"info":{"uuid":"%s"},"device":%s},"mig":null}""";
    private static final String MIG_DEVICE = """
            {"gpu":null,"mig":{"concrete":{"parentMinor":0,"giId":1,"ciId":0,"migUUID":"%s","parentUUID":"x"},"device":%s}}""";

    private final Logger logger = (Logger) LoggerFactory.getLogger(NvidiaTakeOver.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void readLog() {
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void endLog() {
        logger.detachAppender(log);
    }

    private NvidiaTakeOver takeOver(boolean dynamicMig) {
        return takeOver(node.nvml(), dynamicMig);
    }

    private NvidiaTakeOver takeOver(Nvml used, boolean dynamicMig) {
        return new NvidiaTakeOver(
                new NvidiaTakeOver.Node(
                        used, new NodeDevices.Settings("node-1", node.sysfs(), dynamicMig, shares), earlierBoot()),
                new Edits(node.roots(), HookProgram.at(node.hook())),
                sharing());
    }

    private Path file() {
        return folder.resolve("checkpoint.json");
    }

    private static String answered(String device) {
        return """
               {"Requests":["r"],"PoolName":"node-1","DeviceName":"%s","CDIDeviceIDs":["k8s.gpu.nvidia.com/claim=%s-%s"]}""".formatted(device, ONE.uid(), device);
    }

    private void write(String state, String device, String prepared, String configState) throws Exception {
        write(state, device, prepared, configState, "");
    }

    private void write(String state, String device, String prepared, String configState, String configs)
            throws Exception {
        String claim = """
                "preparedClaims":{"%s":{"checkpointState":"%s","status":{"allocation":{"devices":{"results":[{"device":"%s"}]%s}}},"preparedDevices":[{"devices":[%s],"configState":{%s}}]}},"nodeBootID":"boot-1\"""".formatted(ONE.uid(), state, device, configs, prepared, configState);
        Files.write(file(), GoFiles.secondVersion(claim));
    }

    private void writeGpu(String uuid) throws Exception {
        write("PrepareCompleted", "gpu-0", GPU.formatted(uuid, answered("gpu-0")), "");
    }

    private PreparedClaim adopt(NvidiaTakeOver takeOver, String config, String device) {
        assertThat(takeOver.claims("boot-1")).containsExactly(ONE.uid());
        takeOver.inventory();
        takeOver.check(ONE.uid());
        AllocatedClaim claim = claim(ONE, config, device);
        PreparedClaim adopted = takeOver.adopt(claim);
        claims.held.add(HeldClaim.builder(ONE)
                .phase(Phase.PREPARED)
                .devices(claim.devices().stream().map(one -> one.held()).toList())
                .state(adopted.state())
                .build());
        return adopted;
    }

    @Test
    void aWholeGpuGoesOn() throws Exception {
        install("l40s");
        writeGpu(gpu0);
        NvidiaTakeOver takeOver = takeOver(false);

        PreparedClaim adopted = adopt(takeOver, "", "gpu-0");
        assertThat(takeOver.hasRun()).isTrue();
        takeOver.finish();
        assertThat(takeOver.hasRun()).isFalse();

        PreparedClaim prepared = claims.prepare(provider, claim(TWO, "", "gpu-0"));
        assertThat(adopted.edits()).isEqualTo(prepared.edits());
        assertThat(adopted.devices().get(0).edits())
                .isEqualTo(prepared.devices().get(0).edits());
        assertThat(adopted.state()).isNull();
        assertThat(file()).doesNotExist();
        assertThat(folder.resolve("checkpoint.json.taken-over")).exists();
        assertThat(takeOver(false).claims("boot-1")).isEmpty();
    }

    @Test
    void timeSlicesAreResetAtTheEnd() throws Exception {
        install("l40s");
        writeGpu(gpu0);
        NvidiaTakeOver takeOver = takeOver(false);

        adopt(takeOver, SLICES, "gpu-0");
        assertThat(folder.resolve("time-slices")).doesNotExist();
        takeOver.finish();
        restart();
        claims.unprepare(provider, ONE);

        assertThat(smi.calls()).containsExactly("compute-policy -i " + gpu0 + " --set-timeslice 0");
    }

    /** One for administration is used, and not the claim's own. */
    @ParameterizedTest
    @CsvSource({"'', 0", "', adminAccess: true', 1"})
    void aMigDeviceIsDestroyedAtTheEndUnlessItIsForAdministration(String access, int left) throws Exception {
        install("h100-80", true);
        createMigDevice();
        NvidiaTakeOver takeOver = takeOver(true);

        PreparedClaim adopted = adopt(takeOver, "", MIG + access);
        takeOver.finish();
        restart();
        assertThat(instances()).isEqualTo(1);
        claims.unprepare(provider, ONE);

        assertThat(adopted.state() == null).isEqualTo(left == 1);
        assertThat(instances()).isEqualTo(left);
    }

    @Test
    void withoutACheckpointItEndsAndGivesNvmlBack() throws Exception {
        install("l40s");
        Nvml used = node.nvml();
        NvidiaTakeOver takeOver = takeOver(used, false);
        assertThat(takeOver.claims("boot-1")).isEmpty();

        takeOver.finish();

        assertThatThrownBy(used::read).hasMessageContaining("released for the shutdown");
    }

    /** The claim that the cluster no longer has, held by what the checkpoint names. */
    private void takeLost(NvidiaTakeOver takeOver) {
        assertThat(takeOver.claims("boot-1")).containsExactly(ONE.uid());
        takeOver.inventory();
        claims.held.add(HeldClaim.builder(ONE)
                .phase(Phase.DAMAGED)
                .devices(takeOver.lost(ONE.uid()))
                .build());
        takeOver.finish();
    }

    @Test
    void aMigDeviceOfADeletedClaimIsDestroyedAtTheEnd() throws Exception {
        install("h100-80", true);
        createMigDevice();

        takeLost(takeOver(true));
        restart();
        claims.unprepare(provider, ONE);

        assertThat(instances()).isZero();
    }

    @Test
    void timeSlicesOfADeletedClaimAreResetAtTheEnd() throws Exception {
        install("l40s");
        String configured = ",\"config\":[{\"requests\":[]}]";
        write("PrepareCompleted", "gpu-0", GPU.formatted(gpu0, answered("gpu-0")), "", configured);

        takeLost(takeOver(false));
        restart();
        assertThat(smi.calls()).isEmpty();
        claims.unprepare(provider, ONE);

        assertThat(smi.calls()).containsExactly("compute-policy -i " + gpu0 + " --set-timeslice 0");
    }

    private List<String> lost() {
        NvidiaTakeOver takeOver = takeOver(false);
        takeOver.claims("boot-1");
        takeOver.inventory();
        List<String> names = takeOver.lost(ONE.uid()).stream()
                .map(one -> one.device().value())
                .toList();
        takeOver.finish();
        return names;
    }

    /** A deleted claim that is half prepared, or has a device of a later release. */
    @Test
    void aDeletedClaimWithoutNamesHoldsWhatItWasAllocatedHere() throws Exception {
        install("l40s");
        String results = ",\"config\":[{\"requests\":[]}]";
        write("PrepareStarted", "gpu-0\"},{\"device\":\"nic-7", "", "", results);
        assertThat(lost()).containsExactly("gpu-0");
        write("PrepareCompleted", "gpu-0", "{\"later\":{}}", "");
        assertThat(lost()).containsExactly("gpu-0");
        write("PrepareCompleted", "gpu-0", GPU.formatted(gpu0, answered("gpu-3")), "");
        assertThat(lost()).containsExactly("gpu-3");
        restart();

        claims.held.add(
                HeldClaim.builder(ONE).phase(Phase.DAMAGED).devices(List.of()).build());
        claims.unprepare(provider, ONE);

        assertThat(smi.calls()).containsExactly("compute-policy -i " + gpu0 + " --set-timeslice 0");
    }

    /** Creates it as the other driver does, and forgets all but what its checkpoint has. */
    private void createMigDevice() throws Exception {
        claims.prepare(provider, claim(ONE, "", MIG));
        claims.held.clear();
        String uuid;
        try (var nvml = node.nvml()) {
            uuid = nvml.instances(gpu0).get(0).devices().get(0).uuid();
        }
        assertThat(uuid).startsWith("MIG-");
        write("PrepareCompleted", MIG, MIG_DEVICE.formatted(uuid, answered(MIG)), "");
    }

    private int instances() {
        try (var nvml = node.nvml()) {
            return nvml.instances(gpu0).size();
        }
    }

    @Test
    void aMigDeviceThatIsGoneIsRefused() throws Exception {
        install("h100-80", true);
        write("PrepareCompleted", MIG, MIG_DEVICE.formatted("MIG-1", answered(MIG)), "");

        assertThatThrownBy(() -> adopt(takeOver(true), "", MIG))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining("does not exist");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', nullValues = "none", textBlock = """
            PrepareCompleted | gpu   | none                    | "mpsControlDaemonID":"m-1" | the MPS daemon m-1
            PrepareStarted   | gpu   | none                    | none | was not finished
            PrepareCompleted | vfio  | none                    | none | passed through to a virtual machine (vfio)
            PrepareCompleted | later | none                    | none | of a kind that this driver does not know
            PrepareCompleted | gpu   | /claim= > /gpu=         | none | has the CDI name [k8s.gpu.nvidia.com/gpu=
            PrepareCompleted | gpu   | "]} > "],"ShareID":"s"} | none | has the CDI name
            """)
    void whatCannotBeUndoneHereIsRefused(
            String state, String kind, @Nullable String change, @Nullable String config, String reason)
            throws Exception {
        install("l40s");
        String device = answered("gpu-0");
        if (change != null) {
            device = device.replace(change.split(" > ")[0], change.split(" > ")[1]);
            assertThat(device).isNotEqualTo(answered("gpu-0"));
        }
        String entry = "{\"%s\":{\"info\":{\"uuid\":\"%s\"},\"device\":%s}}".formatted(kind, gpu0, device);
        write(state, "gpu-0-mig-1g5gb-19-0", entry, config == null ? "" : config);

        NvidiaTakeOver takeOver = takeOver(false);
        takeOver.claims("boot-1");
        assertThatThrownBy(() -> takeOver.check(ONE.uid()))
                .isInstanceOf(PrepareException.class)
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            GPU-other | gpu-0 | device gpu-0 is {gpu0} on this node, and was prepared as GPU-other
            {gpu0}    | gpu-1 | it was prepared with the devices [gpu-0], but is allocated [gpu-1]
            """)
    void anotherGpuIsRefused(String uuid, String device, String reason) throws Exception {
        install("a100-40");
        writeGpu(uuid.replace("{gpu0}", gpu0));

        assertThatThrownBy(() -> adopt(takeOver(false), "", device))
                .isInstanceOf(PrepareException.class)
                .hasMessage(reason.replace("{gpu0}", gpu0));
    }

    @Test
    void anUnfinishedWholeGpuIsPassedOver() throws Exception {
        install("l40s");
        write("PrepareStarted", "gpu-0", "", "");
        assertThat(takeOver(false).claims("boot-1")).isEmpty();
    }

    /** Releases before April 2026 record no boot. */
    private void writeWithoutBoot() throws Exception {
        write("PrepareCompleted", "gpu-0", GPU.formatted(gpu0, answered("gpu-0")), "");
        String named = Files.readString(file());
        String claims = named.substring(named.indexOf("\"preparedClaims"), named.indexOf(",\"nodeBootID"));
        Files.write(file(), GoFiles.secondVersion(claims));
    }

    private static void set(Path file, Instant time) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(time));
    }

    @Test
    void aCheckpointThatNamesNoBootIsOfThisOneUnlessItIsOlder() throws Exception {
        install("l40s");
        writeWithoutBoot();
        Instant booted = Instant.parse("2026-03-01T10:00:00Z");
        Instant before = Instant.parse("2026-02-28T22:00:00.5Z");
        node.booted(booted);
        set(file(), booted);
        assertThat(takeOver(false).claims("boot-1")).containsExactly(ONE.uid());
        assertThat(log.list).isEmpty();
        set(file(), before);
        NvidiaTakeOver takeOver = takeOver(false);

        assertThat(takeOver.claims("boot-1")).isEmpty();

        assertThat(log.list).singleElement().satisfies(line -> {
            assertThat(line.getLevel()).isEqualTo(Level.WARN);
            assertThat(line.getKeyValuePairs())
                    .containsExactly(
                            new KeyValuePair("file", file()),
                            new KeyValuePair("written", before),
                            new KeyValuePair("booted", booted));
            assertThat(line.getFormattedMessage()).contains("not taken over", "gets the suffix .taken-over");
        });
        takeOver.finish();
        assertThat(file()).doesNotExist();
        assertThat(folder.resolve("checkpoint.json.taken-over")).exists();
    }

    @Test
    void aCheckpointThatNamesItsBootEndsWithItAndHasNoOtherTime() throws Exception {
        install("l40s");
        writeGpu(gpu0);
        set(file(), Instant.EPOCH);
        Files.delete(node.proc().resolve("stat"));

        assertThat(takeOver(false).claims("boot-1")).containsExactly(ONE.uid());
        assertThat(takeOver(false).claims("boot-2")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"cpu 1, has no line btime", "btime soon, can't be read", ", NoSuchFileException"})
    void withoutTheTimeOfTheBootClaimsOfNoBootAreRefused(String stat, String reason) throws Exception {
        install("l40s");
        writeWithoutBoot();
        Files.delete(node.proc().resolve("stat"));
        if (stat != null) {
            Files.writeString(node.proc().resolve("stat"), stat + "\n");
        }

        assertThatThrownBy(() -> takeOver(false).claims("boot-1"))
                .isInstanceOf(DraException.class)
                .hasMessageContaining(file() + ", does not name the boot of its claims")
                .hasMessageContaining(reason)
                .hasMessageContaining(node.proc().resolve("stat").toString())
                .hasMessageContaining("kubectl drain node-1")
                .hasMessageContaining("--take-over=ignore");
        assertThat(file()).exists();
    }

    @Test
    void withoutTheTimeOfTheBootACheckpointWithoutClaimsThatHaveSomethingIsNone() throws Exception {
        install("l40s");
        Files.delete(node.proc().resolve("stat"));
        Files.write(file(), GoFiles.secondVersion("\"preparedClaims\":{}"));
        assertThat(takeOver(false).claims("boot-1")).isEmpty();

        Files.write(file(), GoFiles.begun(ONE.uid(), "", "")); // it has changed nothing
        assertThat(takeOver(false).claims("boot-1")).isEmpty();
    }

    @Test
    void aDamagedCheckpointIsRefusedWithTheWayOut() throws Exception {
        install("l40s");
        Files.writeString(file(), "{}");
        assertThatThrownBy(() -> takeOver(false).claims("boot-1"))
                .isInstanceOf(DraException.class)
                .hasMessageContaining(file() + ", can't be used: it has neither version 1 nor 2")
                .hasMessageContaining("--take-over=ignore")
                .hasMessageContaining("  kubectl cordon node-1\n  sudo mv %1$s %1$s.unused\n  kubectl drain node-1 "
                        .formatted(file()));
        Files.move(file(), Path.of(file() + ".unused"));
        assertThat(takeOver(false).claims("boot-1")).isEmpty();
    }
}
